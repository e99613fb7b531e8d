"""Sequence-level distillation: large models translate the training text of the models in the package.

    python benchmarks/boxed_teach.py translate TEACHER … --part everyday --shard 0/4 --out taught/everyday.0.tsv
    python benchmarks/boxed_teach.py sample fr-en --turned --back --part everyday --temperature 0.8 --out back.tsv
    python benchmarks/boxed_teach.py mix benchmarks/boxed --taught taught --back taught-fr-en --out train.tsv [--turned]

`translate` writes each source of a part of the text once: source, best translation of the teachers, which vote, and, of
the beam, the translation that is most like a reference. --turned takes French as the source, `--most N` the first N
sources. `sample` draws translations that differ from the text's own: source TAB translation, with --back the
translation first, because it becomes a source. `mix` writes the training text of one direction, source TAB target:
everyday pairs with the original target, with the best and with the closest translation (without --taught the original
twice); with --back also the other direction's everyday translations turned round, that is a translated source with an
original target; copies, taught where the teachers kept every name and number; Europarl, taught as far as it was
translated. No line whose source or target is in TEXT/held_out.txt is written.
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
    translator = load(given.teachers, device=given.device, precision=given.precision)
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


@torch.inference_mode()
def sample(given: argparse.Namespace) -> None:
    """Translations drawn from the model's distribution; a line for each that differs from the text's own."""
    translator = load(given.teachers, device=given.device, precision=given.precision)
    bundle = translator.bundle
    config = translator.search_config({"temperature": given.temperature, "top_k": given.top_k, "nbest": given.times})
    options = replace(config.options, weights=False)
    banned = set((given.text / "held_out.txt").read_text(encoding="utf-8").splitlines())
    known: dict[str, set[str]] = {}
    for source, target in part(given.text, given.part, given.turned):
        known.setdefault(source, set()).add(target)
    index, shards = map(int, given.shard.split("/"))
    sources = sorted([one for one in known if bare(one) not in banned][index::shards], key=len)[: given.most]
    generator = torch.Generator(given.device).manual_seed(given.seed)
    with given.out.open("w", encoding="utf-8") as file:
        for first in range(0, len(sources), 128):
            texts = sources[first : first + 128]
            batch = pad([bundle.source.encode(one, eos=bundle.manifest.source_eos).ids for one in texts], given.device)
            found = decode(
                translator.stepper, batch, batch.source_lengths, config, options=options, generator=generator
            )
            for text, drawn in zip(texts, found, strict=True):
                for other in sorted({bundle.target.decode(one.tokens).strip() for one in drawn} - known[text] - {""}):
                    if bare(other) not in banned:
                        file.write(f"{other}\t{text}\n" if given.back else f"{text}\t{other}\n")


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
    translating, drawing, mixing = (verbs.add_parser(verb) for verb in ("translate", "sample", "mix"))
    for verb in (translating, drawing):
        verb.add_argument("teachers", nargs="+")
        verb.add_argument("--text", type=Path, default=ROOT / "benchmarks" / "boxed")
        verb.add_argument("--part", required=True, help="everyday, copies, europarl or another TSV file of the text")
        verb.add_argument("--shard", default="0/1")
        verb.add_argument("--most", type=int)
        verb.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
        verb.add_argument("--precision", default="float32", help="int8 is the fastest on a CPU")
    translating.add_argument("--beam", type=int, default=4)
    translating.set_defaults(verb=translate)
    drawing.add_argument("--temperature", type=float, default=0.7)
    drawing.add_argument("--top-k", type=int, help="draw among this many pieces")
    drawing.add_argument("--times", type=int, default=1, help="translations of each source")
    drawing.add_argument("--back", action="store_true", help="the translation first: it becomes a source")
    drawing.add_argument("--seed", type=int, default=0)
    drawing.set_defaults(verb=sample)
    mixing.add_argument("text", type=Path)
    mixing.add_argument("--taught", type=Path, help="folder of translations")
    mixing.add_argument("--back", type=Path, help="folder of the other direction's translations")
    mixing.set_defaults(verb=mix)
    for verb in (translating, drawing, mixing):
        verb.add_argument("--turned", action="store_true", help="French is the source")
        verb.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.verb(given)


if __name__ == "__main__":
    main()
