"""Vanilla against attention by length: trains both on phrasebook sentences of 3 to 120 words and draws the curve.

    python benchmarks/length_curve.py --out docs/results [--steps 3000] [--device cuda]

Writes length.json and length.png into the folder; the runs themselves go to runs/length-*.
"""

import argparse
import json
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

import torch

from regard.data import phrasebook
from regard.evaluation import evaluate
from regard.plot import LengthQuality, System, quality_by_length, save
from regard.runtime.translator import load
from regard.text.words import split_words
from regard.training.run import train

EDGES = (11, 21, 31, 41, 51, 61, 71, 81, 91, 101, 111)
SYSTEMS = {"no attention (one fixed vector)": "vanilla", "additive attention": "bahdanau"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    options.add_argument("--steps", type=int, default=3000)
    options.add_argument("--device", default="auto")
    options.add_argument("--per-bin", type=int, default=60)
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--system", help="train this one alone and print its scores")
    given = options.parse_args()
    if given.system:
        print(json.dumps(measure(given.system, given)))
        return
    command = [sys.executable, __file__, *sys.argv[1:], "--system"]
    started = {name: subprocess.Popen([*command, preset], stdout=subprocess.PIPE) for name, preset in SYSTEMS.items()}
    results = {name: json.loads(process.communicate()[0]) for name, process in started.items()}
    on_gpu = torch.cuda.is_available() and given.device != "cpu"
    device = torch.cuda.get_device_name() if on_gpu else platform.machine()
    record = {"date": date.today().isoformat(), "device": device, "steps": given.steps, "systems": results}
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "length.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    draw(record, given.out / "length.png")
    print(json.dumps(record))


def measure(preset: str, given: argparse.Namespace) -> dict[str, object]:
    """Train one system and score it on unseen sentences of every length."""
    bounds = [(3, 10), *((edge, edge + 9) for edge in EDGES[:-1]), (111, 120)]
    pairs = [
        pair
        for shortest, longest in bounds
        for pair in phrasebook.pairs("en-fr", "test", given.per_bin, shortest=shortest, longest=longest)
    ]
    overrides = [f"model.preset={preset}", f"train.steps={given.steps}", f"train.device={given.device}"]
    run = train("length", given.runs / f"length-{preset}", overrides=overrides, overwrite=True)
    device = "cuda" if torch.cuda.is_available() and given.device != "cpu" else "cpu"
    translator = load(run.folder, device, longest_source=120)
    outputs = [one.text for one in translator.translate([pair.source for pair in pairs])]
    lengths = [len(split_words(pair.source)) for pair in pairs]
    scores = evaluate(outputs, [pair.target for pair in pairs], lengths=lengths, edges=EDGES)
    return {
        "seconds": round(run.progress.seconds),
        "bleu": scores.bleu,
        "exact_match": scores.exact_match,
        "by_length": [
            (one.shortest, one.longest, one.sentences, one.bleu, one.exact_match) for one in scores.by_length
        ],
    }


def draw(record: dict[str, object], path: Path) -> None:
    systems: dict[str, dict[str, list[list[float]]]] = record["systems"]  # type: ignore[assignment]
    rows = next(iter(systems.values()))["by_length"]
    bins = tuple(f"{row[0] or 3}–{row[1] or 120}" for row in rows)
    curves = tuple(System(name, tuple(row[3] for row in found["by_length"])) for name, found in systems.items())
    save(quality_by_length(LengthQuality("BLEU", bins, tuple(int(row[2]) for row in rows), curves)), path)


if __name__ == "__main__":
    main()
