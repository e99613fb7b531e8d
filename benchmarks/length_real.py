"""Bahdanau's figure 2 on real text: no attention against additive attention, trained on debates, BLEU by length.

    REGARD_DATA=../shared/data python benchmarks/length_real.py --steps 5000 [--longest 50] [--recipe europarl-en-fr]

Trains both systems at the paper's size, decodes the corpus's `testlen` split (or --test PREFIX, with .en and .fr), and
writes length_real.json and length_real.png into the folder --out. Wants a GPU.
"""

import argparse
import json
import lzma
import time
from datetime import date
from pathlib import Path

import torch

from regard.evaluation import bleu
from regard.plot import LengthQuality, System, quality_by_length, save
from regard.runtime.translator import load
from regard.text.words import split_words
from regard.train.run import train

BINS = [(1, 10), (11, 20), (21, 30), (31, 40), (41, 50), (51, 60), (61, 80), (81, 400)]
SIZE = [
    "model.size=base",
    "model.embedding=620",
    "model.encoder_units=1000",
    "model.decoder_units=1000",
    "model.readout=maxout",
    "model.readout_width=500",
]
SYSTEMS = {
    "no attention (one fixed vector)": ["model.preset=vanilla", *SIZE],
    "additive attention": ["model.preset=rnnsearch"],
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--recipe", default="europarl-en-fr")
    options.add_argument("--test", type=Path, required=True, help="testlen, without .en.xz and .fr.xz")
    options.add_argument("--steps", type=int, default=5000)
    options.add_argument("--tokens", type=int, default=12000)
    options.add_argument("--longest", type=int, default=50)
    options.add_argument("--beam", type=int, default=5)
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    given = options.parse_args()
    sources, targets = (lines(given.test.with_name(f"{given.test.name}.{ending}.xz")) for ending in ("en", "fr"))
    record = {
        "date": date.today().isoformat(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU",
        **{name: getattr(given, name) for name in ("steps", "tokens", "longest", "beam")},
        "systems": {},
    }
    given.out.mkdir(parents=True, exist_ok=True)
    for name, changes in SYSTEMS.items():
        record["systems"][name] = measure(name, changes, sources, targets, given)
        print(json.dumps({name: record["systems"][name]}), flush=True)
        (given.out / "length_real.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    draw(record["systems"], given.out / "length_real.png")


def draw(systems: dict[str, dict[str, list[dict[str, float]]]], path: Path) -> None:
    rows = next(iter(systems.values()))["bins"]
    bins = (*(f"{row['from']}–{row['to']}" for row in rows[:-1]), f"{rows[-1]['from']}+")
    curves = tuple(System(name, tuple(row["bleu"] for row in found["bins"])) for name, found in systems.items())
    save(quality_by_length(LengthQuality("BLEU", bins, tuple(int(row["sentences"]) for row in rows), curves)), path)


def lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def measure(
    name: str, changes: list[str], sources: list[str], targets: list[str], given: argparse.Namespace
) -> dict[str, object]:
    """Train one system, decode everything, score it by the length of the source in words."""
    folder = given.runs / f"length-real-{changes[0].split('=')[1]}"
    schedule = [
        f"train.steps={given.steps}",
        "train.epochs=1000",
        f"train.batch_tokens={given.tokens}",
        f"data.longest_words={given.longest}",
        "train.learning_rate=1e-3",
        "train.warmup=400",
        "train.validate_every=1000000",
        "train.checkpoint_every=1000000",
        "train.validate_sentences=200",
        "train.average=0",
    ]
    found = train(given.recipe, folder, overrides=[*schedule, *changes], overwrite=True)
    translator = load(folder, device="cuda" if torch.cuda.is_available() else "cpu")
    began = time.perf_counter()
    outputs = [translation.text for translation in translator.translate(sources, beam=given.beam)]
    seconds = time.perf_counter() - began
    words = [len(split_words(source)) for source in sources]
    rows = []
    for shortest, longest in BINS:
        inside = [place for place, count in enumerate(words) if shortest <= count <= longest]
        if inside:
            score = bleu([outputs[place] for place in inside], [targets[place] for place in inside]).score
            rows.append({"from": shortest, "to": longest, "sentences": len(inside), "bleu": round(score, 2)})
    return {
        "bins": rows,
        "bleu": round(bleu(outputs, targets).score, 2),
        "training_seconds": round(found.progress.seconds),
        "decoding_seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    main()
