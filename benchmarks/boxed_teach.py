"""Sequence-level distillation: large models translate the training text of the models in the package.

    python benchmarks/boxed_teach.py translate TEACHER … --part everyday --shard 0/4 --out taught/everyday.0.tsv
    python benchmarks/boxed_teach.py mix benchmarks/boxed --taught taught --back taught-fr-en --out train.tsv [--turned]

`translate` writes each source of a part of the text once: source, best translation of the teachers, which vote, and,
of the beam, the translation that is most like a reference. --turned takes French as the source, `--most N` the first
N sources. `mix` writes the training text of one direction, source TAB target: everyday pairs with the original target,
with the best and with the closest translation (without --taught the original twice); with --back also the other
direction's everyday translations turned round, that is a translated source with an original target; copies, taught
where the teachers kept every name and number; Europarl, taught as far as it was translated. No line whose source or
target is in TEXT/held_out.txt is written.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from rapidfuzz.fuzz import ratio

from boxed_data import ROOT, Pair, bare, read, shared
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
    references: dict[str, list[str]] = {}
    for source, target in part(given.text, given.part, given.turned):
        references.setdefault(source, []).append(target)
    index, shards = map(int, given.shard.split("/"))
    mine = list(references)[: given.most][index::shards]
    found = beam_search(translator, mine, given.beam)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = ""
    for source, translations in zip(mine, found, strict=True):
        closest = max(translations, key=lambda one: max(ratio(one, other) for other in references[source]))
        if translations[0].strip() and closest.strip():
            lines += f"{source}\t{translations[0]}\t{closest}\n"
    given.out.write_text(lines, encoding="utf-8")


@torch.inference_mode()
def beam_search(
    translator: Translator, sentences: Sequence[str], beam: int, most_rows: int = 1024, most_pieces: int = TOKENS
) -> list[list[str]]:
    """The beam of each, best first; without attention weights, so that nothing but ids leaves the device."""
    bundle = translator.bundle
    ids = [bundle.source.encode(one, eos=bundle.manifest.source_eos).ids for one in sentences]
    config = translator.search_config({"beam": beam, "nbest": beam})
    options = replace(config.options, weights=False)
    order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
    found: dict[int, list[str]] = {}
    first = 0
    while first < len(order):
        rows = order[first : first + max(1, min(most_rows, most_pieces // len(ids[order[first]])))]
        first += len(rows)
        batch = pad([ids[i] for i in rows], translator.device)
        for i, hypotheses in zip(
            rows, decode(translator.stepper, batch, batch.source_lengths, config, options=options), strict=True
        ):
            found[i] = [bundle.target.decode(one.tokens) for one in hypotheses]
    return [found[i] for i in range(len(sentences))]


def mix(given: argparse.Namespace) -> None:
    original = {name: part(given.text, name, given.turned) for name in ("everyday", "copies", "europarl")}
    taught = {name: _taught(given.taught, name) for name in original}
    rows = [*original["everyday"]]
    rows += [(source, target) for source, both in taught["everyday"].items() for target in both]
    if given.taught is None:
        rows += original["everyday"]
    rows += [(best, source) for source, (best, _) in _taught(given.back, "everyday").items()]
    rows += [_with_names(pair, taught["copies"].get(pair[0], pair[1:])[0]) for pair in original["copies"]]
    rows += [(source, taught["europarl"].get(source, (target,))[0]) for source, target in original["europarl"]]
    banned = set((given.text / "held_out.txt").read_text(encoding="utf-8").splitlines())
    kept = [pair for pair in rows if bare(pair[0]) not in banned and bare(pair[1]) not in banned]
    random.Random(0).shuffle(kept)
    given.out.write_text("".join(f"{source}\t{target}\n" for source, target in kept), encoding="utf-8")
    print({name: len(one) for name, one in taught.items()}, len(kept), "lines;", len(rows) - len(kept), "left out")


def _taught(folder: Path | None, name: str) -> dict[str, tuple[str, ...]]:
    """Source -> best and closest translation."""
    paths = sorted(folder.glob(f"{name}.*.tsv")) if folder else []
    return {row[0]: (row[1], row[-1]) for path in paths for row in read(path)}


def _with_names(pair: Pair, target: str) -> Pair:
    if any(shared(pair)[kind] != shared((pair[0], target))[kind] for kind in (0, 1)):
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
    mixing.add_argument("--taught", type=Path, help="folder of translations")
    mixing.add_argument("--back", type=Path, help="folder of the other direction's translations")
    mixing.set_defaults(verb=mix)
    for verb in (translating, mixing):
        verb.add_argument("--turned", action="store_true", help="French is the source")
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
