"""Sequence-level distillation: large models translate the training text of the models in the package.

    python benchmarks/boxed_teach.py translate TEACHER … --part everyday --shard 0/4 --out taught/everyday.0.tsv
    python benchmarks/boxed_teach.py mix benchmarks/boxed taught --out taught/train.tsv [--turned]

`translate` writes each source of a part of the text once, with the translation of the teachers, which vote; --turned
takes French as the source, `--most N` the first N sources. `mix` puts the student's text together: the taught
everyday sentences twice and the original ones once, taught copies (the original where the teachers lost a name or
number), taught Europarl and, for sentences that were not taught, the original. Every file is source TAB target.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from boxed_data import ROOT, Pair, read, shared
from regard.runtime.source_text import pad
from regard.runtime.translator import Translator, load
from regard.search import decode

TOKENS = 16_000
"""Source pieces that are decoded together, padding counted."""


def part(text: Path, name: str, turned: bool) -> list[Pair]:
    rows = [(row[0], row[1]) for row in read(text / f"{name}.tsv")]
    return [(french, english) for english, french in rows] if turned else rows


def translate(given: argparse.Namespace) -> None:
    translator = load(given.teachers, device=given.device)
    sources = list(dict.fromkeys(source for source, _ in part(given.text, given.part, given.turned)))[: given.most]
    index, shards = map(int, given.shard.split("/"))
    mine = sources[index::shards]
    found = beam_search(translator, mine, given.beam)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{source}\t{target}\n" for source, target in zip(mine, found, strict=True) if target.strip())
    given.out.write_text(lines, encoding="utf-8")


@torch.inference_mode()
def beam_search(translator: Translator, sentences: Sequence[str], beam: int) -> list[str]:
    """The best translation of each; without attention weights, so that nothing but ids leaves the device."""
    bundle = translator.bundle
    ids = [bundle.source.encode(one, eos=bundle.manifest.source_eos).ids for one in sentences]
    config = translator._search({"beam": beam})
    options = replace(config.options, weights=False)
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    found: dict[int, str] = {}
    first = 0
    while first < len(order):
        rows = order[first : first + max(1, min(1024, TOKENS // len(ids[order[first]])))]
        first += len(rows)
        batch = pad([ids[i] for i in rows], translator.device)
        for i, hypotheses in zip(
            rows, decode(translator.stepper, batch, batch.source_lengths, config, options=options), strict=True
        ):
            found[i] = bundle.target.decode(hypotheses[0].tokens)
    return [found[i] for i in range(len(sentences))]


def mix(given: argparse.Namespace) -> None:
    draw = random.Random(0)
    taught = {
        name: {row[0]: row[1] for path in sorted(given.taught.glob(f"{name}.*.tsv")) for row in read(path)}
        for name in ("everyday", "copies", "europarl")
    }
    original = {name: part(given.text, name, given.turned) for name in taught}
    rows = [*original["everyday"], *(pair for pair in taught["everyday"].items() for _ in range(2))]
    rows += [_with_names(pair, taught["copies"].get(pair[0])) for pair in original["copies"]]
    rows += [(source, taught["europarl"].get(source, target)) for source, target in original["europarl"]]
    draw.shuffle(rows)
    given.out.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    print({name: len(one) for name, one in taught.items()}, len(rows), "lines")


def _with_names(pair: Pair, target: str | None) -> Pair:
    if target is None or any(shared(pair)[kind] != shared((pair[0], target))[kind] for kind in (0, 1)):
        return pair
    return pair[0], target


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(required=True)
    translating, mixing = verbs.add_parser("translate"), verbs.add_parser("mix")
    translating.add_argument("teachers", nargs="+")
    translating.add_argument("--text", type=Path, default=ROOT / "benchmarks" / "boxed")
    translating.add_argument("--part", choices=("everyday", "copies", "europarl"), required=True)
    translating.add_argument("--shard", default="0/1")
    translating.add_argument("--most", type=int)
    translating.add_argument("--beam", type=int, default=4)
    translating.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    translating.set_defaults(verb=translate)
    mixing.add_argument("text", type=Path)
    mixing.add_argument("taught", type=Path)
    mixing.set_defaults(verb=mix)
    for verb in (translating, mixing):
        verb.add_argument("--turned", action="store_true", help="French is the source")
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
