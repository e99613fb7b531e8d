"""The same recipe with plain and with accelerated implementations: do the training losses follow one curve?

    REGARD_DATA=../shared/data python benchmarks/same_curve.py [--device cuda] [--steps 300] [--out docs/results]

Trains multi30k-en-de five times: without dropout in float32, plain and fast; with dropout in the device's usual
precision, plain, fast, and fast with another seed, which says how far two runs may lie apart. REGARD_PLAIN=1 is what
makes a run plain. On a GPU the fast path is kernels replayed from graphs and a loss in pieces, on the CPU hand-written
gradients; there the model is a small one. Writes same_curve_DEVICE.json and .png.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from regard.lab.machine import describe_machine
from regard.training.journal import read_journal
from regard.training.run import train

RECIPE = "multi30k-en-de"
SMALL = ["model.size=tiny", "data.limit=4000", "train.batch_tokens=800", "text.vocabulary=2000", "train.warmup=40"]
SCHEDULE = ["text.dropout=0", "train.metric=loss", "train.validate_every=1000000", "train.validate_sentences=100"]
EXACT = ["model.dropout=0", "model.embedding_dropout=0", "train.precision=float32"]
RUNS: dict[str, tuple[str, bool, list[str]]] = {
    "plain": ("without dropout", True, EXACT),
    "fast": ("without dropout", False, EXACT),
    "plain, dropout": ("with dropout", True, []),
    "fast, dropout": ("with dropout", False, []),
    "fast, dropout, another seed": ("with dropout", False, ["train.seed=1"]),
}
END = 50
"""Steps at the end whose mean loss is compared."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", default="cpu")
    options.add_argument("--steps", type=int)
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--out", type=Path, default=Path("docs/results"))
    given = options.parse_args()
    steps = given.steps or (300 if given.device == "cuda" else 200)
    record: dict[str, Any] = {**describe_machine(torch.device(given.device)), "steps": steps, "runs": {}}
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"same_curve_{given.device}.json"
    for name, (_, plain, changes) in RUNS.items():
        folder = given.runs / f"same-curve-{name.replace(', ', '-').replace(' ', '-')}"
        record["runs"][name] = run(folder, plain, given.device, steps, changes)
        last = record["runs"][name]["losses"][-END:]
        print(
            time.strftime("%H:%M:%S"), name, f"{statistics.fmean(last):.4f} in the last {len(last)} steps", flush=True
        )
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    record["apart"] = compare(record["runs"])
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    for name, figures in record["apart"].items():
        print(f"{name}: {figures}")
    draw(record, path.with_suffix(".png"))


def run(folder: Path, plain: bool, device: str, steps: int, changes: list[str]) -> dict[str, Any]:
    """The loss of every step, and how long all took."""
    small = [] if device == "cuda" else SMALL
    overrides = [*SCHEDULE, *small, f"train.steps={steps}", f"train.device={device}", *changes]
    os.environ["REGARD_PLAIN"] = str(int(plain))
    try:
        found = train(RECIPE, folder, overrides=overrides, overwrite=True)
    finally:
        del os.environ["REGARD_PLAIN"]
    entries = [entry for entry in read_journal(folder / "journal.jsonl") if entry["event"] == "step"]
    return {
        "seconds": round(found.progress.seconds, 1),
        "dev_loss": found.progress.best_score,
        "losses": [round(entry["loss"], 7) for entry in entries],
    }


def compare(runs: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The distance of two loss curves: at the first step, at most, and in the mean of the last steps."""
    pairs = [("plain", "fast"), ("plain, dropout", "fast, dropout"), ("fast, dropout", "fast, dropout, another seed")]
    found = {}
    for one, other in pairs:
        left, right = runs[one]["losses"], runs[other]["losses"]
        differences = [abs(a - b) for a, b in zip(left, right, strict=True)]
        ends = statistics.fmean(left[-END:]) - statistics.fmean(right[-END:])
        found[f"{one} / {other}"] = {
            "first": round(differences[0], 7),
            "largest": round(max(differences), 6),
            "mean": round(statistics.fmean(differences), 6),
            "end": round(abs(ends), 4),
            "dev": round(abs(runs[one]["dev_loss"] - runs[other]["dev_loss"]), 4),
        }
    return found


def draw(record: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = list(dict.fromkeys(panel for panel, _, _ in RUNS.values()))
    figure, grid = pyplot.subplots(1, len(panels), figsize=(11, 4), sharey=True, layout="constrained")
    styles = {"plain": "-", "fast": "--"}
    for axes, panel in zip(grid, panels, strict=True):
        for name, (where, plain, _) in RUNS.items():
            if where == panel:
                losses = record["runs"][name]["losses"]
                thick = 2.4 if plain else 1.2
                axes.plot(range(1, len(losses) + 1), losses, styles[name.split(",")[0]], linewidth=thick, label=name)
        axes.set_title(panel, loc="left")
        axes.set_xlabel("step")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    grid[0].set_ylabel("loss of a training step, nats a piece")
    figure.suptitle(f"{RECIPE}, {record['machine']}", fontsize=10)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
