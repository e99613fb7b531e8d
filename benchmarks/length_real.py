"""Bahdanau's figure 2 on real text: no attention against additive attention, each trained on short and longer debates.

    python benchmarks/length_real.py --prepare                    once: the vocabulary and the weights they begin with
    python benchmarks/length_real.py --system additive-50         train, decode, write DIR/length_real/additive-50.json
    python benchmarks/length_real.py --draw --out docs/results    from those files: length_real.json and two pictures

Without --system all four run one after another. Finished parts are skipped, an interrupted training is resumed. The
corpus europarl-en-fr must be at hand (REGARD_DATA); systems have the paper's size and want a GPU.

All four have one vocabulary and, by pairs, the same first weights: those of a single step on sentences of up to 50
words. All take as many steps of as many words; the paper gave them as many days. Quality is measured on the corpus's
`testlen` split by length, and beyond its 100 words on lines of `test` joined until a text is long enough. The corpus is
in random order, so that the sentences of a text have nothing to do with each other; the same sentences translated one
by one say what they are worth by themselves.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import torch

from regard.data.pair import Pair
from regard.data.splits import load_split
from regard.data.tables import CatalogueData
from regard.evaluation import bleu
from regard.plot import LengthQuality, System, quality_by_length, save
from regard.runtime.translator import Translator, load
from regard.text.words import split_words
from regard.training.run import train

RECIPE = "europarl-en-fr"
TESTLEN = [(1, 10), (11, 20), (21, 30), (31, 40), (41, 50), (51, 60), (61, 70), (71, 80), (81, 100)]
JOINED = [(61, 80), (81, 100), (101, 150), (151, 200), (201, 250)]
READ = 4000
"""Pieces of a text that are read at most: far more than any has, though training showed 120."""
MODELS = {
    "vanilla": [
        "model.preset=vanilla",
        "model.size=base",
        "model.embedding=620",
        "model.encoder_units=1000",
        "model.decoder_units=1000",
        "model.readout=maxout",
        "model.readout_width=500",
    ],
    "additive": ["model.preset=rnnsearch"],
}
TITLES = {"vanilla": "no attention", "additive": "additive attention"}


@dataclass(frozen=True)
class Trained:
    """One of the four: which model, and the most words a side of its training pairs had."""

    model: str
    words: int

    @property
    def name(self) -> str:
        return f"{self.model}-{self.words}"

    @property
    def title(self) -> str:
        return f"{TITLES[self.model]}, trained on ≤ {self.words} words"


SYSTEMS = {one.name: one for one in (Trained(model, words) for model in ("additive", "vanilla") for words in (50, 30))}


@dataclass(frozen=True)
class Joined:
    """Sentences that are translated as one text, and one by one."""

    parts: tuple[Pair, ...]

    @property
    def source(self) -> str:
        return " ".join(part.source for part in self.parts)

    @property
    def target(self) -> str:
        return " ".join(part.target for part in self.parts)


@dataclass(frozen=True)
class Bin:
    """BLEU of the texts of these lengths; `apart`: of the same texts, translated sentence by sentence."""

    shortest: int
    longest: int
    texts: int
    bleu: float
    unfinished: int
    """Translations cut at twice as many pieces as their source has, and ten."""
    apart: float | None = None


def join_neighbours(pairs: Sequence[Pair], bins: Sequence[tuple[int, int]], each: int) -> list[Joined]:
    """Lines joined until a text has as many words as a bin needs; each line is used at most once."""
    texts, waiting = [], list(pairs)[::-1]
    for shortest, longest in [one for _ in range(each) for one in bins]:
        parts, words = list[Pair](), 0
        while waiting and words < shortest:
            pair = waiting.pop()
            count = count_words(pair.source)
            if words + count <= longest:  # a line that would be too much is left out
                parts, words = [*parts, pair], words + count
        if words >= shortest:
            texts.append(Joined(tuple(parts)))
    return texts


def count_words(text: str) -> int:
    return len(split_words(text))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--prepare", action="store_true", help="only make the data and weights that all four share")
    options.add_argument("--draw", action="store_true", help="only merge and draw existing results")
    options.add_argument("--system", action="append", choices=list(SYSTEMS), help="repeatable (default: all four)")
    options.add_argument("--steps", type=int, default=5000)
    options.add_argument("--tokens", type=int, default=12000)
    options.add_argument("--beam", type=int, default=5)
    options.add_argument("--joined", type=int, default=70, help="joined texts for each range of lengths")
    options.add_argument("--set", action="append", default=[], help="a recipe's key, as for `regard train`")
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    given = options.parse_args()
    if given.draw:
        draw(given.out)
        return
    prepare(given)
    for name in () if given.prepare else given.system or SYSTEMS:
        kept = given.out / "length_real" / f"{name}.json"
        if kept.exists() and json.loads(kept.read_text(encoding="utf-8"))["joined"]:
            say(f"{name}: measured already")
            continue
        kept.parent.mkdir(parents=True, exist_ok=True)
        for found in measure(SYSTEMS[name], given):
            kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            say(f"{name}: {json.dumps(found)}")


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def prepare(given: argparse.Namespace) -> None:
    """One step of each model on sentences of up to 50 words: the vocabulary and the weights that all begin with."""
    for model in MODELS:
        folder = start_of(model, given)
        if not (folder / "best").exists():
            say(f"preparing {model}")
            changes = [*MODELS[model], *schedule(given), "data.longest_words=50", "train.steps=1"]
            train(RECIPE, folder, overrides=[*changes, *given.set], overwrite=True)


def start_of(model: str, given: argparse.Namespace) -> Path:
    return Path(given.runs) / f"length-real-start-{model}"


def schedule(given: argparse.Namespace) -> list[str]:
    return [
        "train.epochs=1000",
        f"train.batch_tokens={given.tokens}",
        "train.learning_rate=1e-3",
        "train.warmup=400",
        "train.metric=loss",
        "train.validate_every=1000000",
        "train.checkpoint_every=1000",
        "train.average=0",
    ]


def measure(system: Trained, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Train one system, decode, score it by the length of the source in words; then the same with joined texts."""
    folder = given.runs / f"length-real-{system.name}"
    changes = [
        *MODELS[system.model],
        *schedule(given),
        f"train.steps={given.steps}",
        f"data.longest_words={system.words}",
        f"train.start_from={start_of(system.model, given).resolve()}",
        *given.set,
    ]
    say(f"{system.name}: training")
    trained = train(RECIPE, folder, overrides=changes, resume=(folder / "recipe.json").exists())
    say(f"{system.name}: trained {trained.progress.step} steps in {trained.progress.seconds:.0f} s, decoding")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    translator, began = load(folder, device, longest_source=READ), time.perf_counter()
    pairs = split("testlen")
    by_length = score(pairs, TESTLEN, *decode(translator, [pair.source for pair in pairs], given.beam))
    record = {
        "system": system.name,
        "date": date.today().isoformat(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        **{name: getattr(given, name) for name in ("steps", "tokens", "beam")},
        "parameters": translator.bundle.model.parameters_count,
        "dev_loss": trained.progress.best_score,
        "training_seconds": round(trained.progress.seconds),
        "decoding_seconds": round(time.perf_counter() - began, 1),
        "bleu": by_length[1],
        "testlen": [asdict(row) for row in by_length[0]],
        "joined": [],
    }
    yield record
    joined = join_neighbours(split("test"), JOINED, given.joined)
    parts = [pair for text in joined for pair in text.parts]
    whole = decode(translator, [text.source for text in joined], given.beam)
    alone = iter(decode(translator, [pair.source for pair in parts], given.beam)[0])
    apart = [" ".join(next(alone) for _ in text.parts) for text in joined]
    rows, _ = score(joined, JOINED, *whole)
    rows_apart, _ = score(joined, JOINED, apart, [True] * len(joined))
    both = zip(rows, rows_apart, strict=True)
    yield {**record, "joined": [asdict(replace(row, apart=one.bleu)) for row, one in both]}


def split(name: str) -> list[Pair]:
    """A split of the corpus; the environment variable SENTENCES limits it to an evenly spread sample."""
    where = {"kind": "catalogue", "name": RECIPE, "source": "en", "target": "fr", "test": name}
    pairs = list(load_split(CatalogueData.model_validate(where), "test").pairs)
    few = int(os.environ.get("SENTENCES", len(pairs)))
    return pairs[:: max(1, len(pairs) // few)]


def decode(translator: Translator, sources: list[str], beam: int) -> tuple[list[str], list[bool]]:
    """Texts, and whether each ended with EOS; raises if a source was cut, which would falsify the result."""
    found = translator.translate(sources, beam=beam)
    cut = [one for translation in found for one in translation.warnings if one.startswith("too long")]
    if cut:
        raise RuntimeError(f"{len(cut)} sources were cut, the first: {cut[0]}; raise READ")
    return [one.text for one in found], [one.finished for one in found]


def score(
    pairs: Sequence[Pair | Joined], bins: Sequence[tuple[int, int]], outputs: list[str], finished: list[bool]
) -> tuple[list[Bin], float]:
    """BLEU of each range of lengths that occurs, and of everything."""
    words, rows = [count_words(pair.source) for pair in pairs], []
    for shortest, longest in bins:
        inside = [place for place, count in enumerate(words) if shortest <= count <= longest]
        if inside:
            value = bleu([outputs[i] for i in inside], [pairs[i].target for i in inside]).score
            ends = sum(not finished[i] for i in inside)
            rows.append(Bin(shortest, longest, len(inside), round(value, 2), ends))
    return rows, round(bleu(outputs, [pair.target for pair in pairs]).score, 2)


def draw(out: Path) -> None:
    """What is in `out`/length_real goes into `out`/length_real.json; the pictures show all of it."""
    merged = out / "length_real.json"
    known = json.loads(merged.read_text(encoding="utf-8"))["systems"] if merged.exists() else {}
    files = [out / "length_real" / f"{name}.json" for name in SYSTEMS]
    known |= {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files if path.exists()}
    found = {name: known[name] for name in SYSTEMS if name in known}
    if not found:
        raise SystemExit(f"nothing to draw: no system has been measured into {out / 'length_real'}")
    merged.write_text(json.dumps({"systems": found}, indent=1) + "\n", encoding="utf-8")
    for kind, picture in (("testlen", "length_real.png"), ("joined", "length_joined.png")):
        if not all(one[kind] for one in found.values()):
            continue
        rows = next(iter(found.values()))[kind]
        bins = tuple(f"{row['shortest']}–{row['longest']}" for row in rows)
        curves = [System(SYSTEMS[name].title, tuple(row["bleu"] for row in one[kind])) for name, one in found.items()]
        if kind == "joined":
            best = next(iter(found))
            apart = tuple(row["apart"] for row in found[best][kind])
            curves.append(System(f"{SYSTEMS[best].title}, sentence by sentence", apart))
        quality = LengthQuality("BLEU", bins, tuple(row["texts"] for row in rows), tuple(curves))
        save(quality_by_length(quality), out / picture)
        say(f"drawn: {out / picture}")


if __name__ == "__main__":
    main()
