"""Luong's table: how fast each variant of a comparison trains when it has the machine to itself.

    python benchmarks/mechanisms.py time benchmarks/mechanisms-multi30k.toml --json speed.json
    python benchmarks/mechanisms.py merge first.json rest.json --json whole.json

Quality comes from `regard compare`, whose runs share a GPU and say nothing about speed. Here the variants take one
after the other the same batches of the same corpus: training steps whole, optimizer included. `merge` puts reports of
one comparison together that was run in parts: the runs of every variant and seed, each once, and where each came from.
"""

import argparse
import json
import time
from dataclasses import asdict
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch

from regard.bundle.bundle_folder import write_whole
from regard.data.batch import Batch
from regard.lab.compare.plan import Comparison, load_comparison, make_plan
from regard.lab.compare.results import FIGURES, Spread, figure
from regard.models.seq2seq import Seq2Seq
from regard.training.device import pick_precision
from regard.training.optimizer import build_optimizer
from regard.training.optimizer_step import MicroBatch, TrainStep
from regard.training.prepare import prepare
from regard.training.recipe import Recipe

PASSES = 3
"""Over the batches before any is timed: a shape is captured when it comes again."""
Record = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    timing, merging = (verbs.add_parser(name) for name in ("time", "merge"))
    timing.add_argument("comparison")
    timing.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    timing.add_argument("--batches", type=int, default=12, help="from the middle of the lengths")
    timing.add_argument("--rounds", type=int, default=3)
    timing.add_argument("--json", type=Path, required=True)
    merging.add_argument("reports", type=Path, nargs="+")
    merging.add_argument("--json", type=Path, required=True)
    given = options.parse_args()
    if given.verb == "merge":
        whole = merged([json.loads(path.read_text(encoding="utf-8")) for path in given.reports])
        write_whole(given.json, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
        return
    comparison = load_comparison(given.comparison)
    measure(comparison.model_copy(update={"set": (*comparison.set, *given.set)}), given)


def measure(comparison: Comparison, given: argparse.Namespace) -> None:
    """Every variant in turn; results are written after each."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = make_plan(comparison)
    recipes = {one.name: one.recipe for one in plan.variants}
    data = prepare(next(iter(recipes.values())))
    lengths = sorted(data.batcher.plan(), key=lambda items: (int(data.batcher.decoder_steps(items).max()), -len(items)))
    full = [items for items in lengths if len(items) >= median(map(len, lengths))]
    first = max(0, len(full) // 2 - given.batches // 2)
    batches = [data.batcher.batch(items) for items in full[first : first + given.batches]]
    record: Record = {
        "comparison": Path(given.comparison).stem,
        "machine": torch.cuda.get_device_name() if device.type == "cuda" else "CPU",
        "torch": torch.__version__,
        "date": date.today().isoformat(),
        "shapes": sorted({(one.rows, one.source.size(1), one.target_out.size(1)) for one in batches}),
        "variants": {},
    }
    given.json.parent.mkdir(parents=True, exist_ok=True)
    for name, recipe in recipes.items():
        found = steps(recipe, (len(data.source), len(data.target)), batches, given.rounds, device)
        record["variants"][name] = found
        write_whole(given.json, json.dumps(record, indent=1) + "\n")
        print(time.strftime("%T"), name, json.dumps(found), flush=True)


def steps(recipe: Recipe, sizes: tuple[int, int], batches: list[Batch], rounds: int, device: torch.device) -> Record:
    """Milliseconds of a step in the best round over the batches, target pieces a second, memory at the peak."""
    torch.manual_seed(0)
    model = Seq2Seq(recipe.model, *sizes).to(device).train()
    autocast = pick_precision(recipe.train.precision, device)
    step = TrainStep(model, build_optimizer(model, recipe.train), recipe.train, autocast)

    def run() -> float:
        began = time.perf_counter()
        for batch in batches:
            step([MicroBatch(batch)], int(batch.target_lengths.sum()), print)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter() - began

    for _ in range(PASSES if device.type == "cuda" else 1):
        run()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    seconds = min(run() for _ in range(rounds))
    pieces = sum(int(batch.target_lengths.sum()) for batch in batches)
    return {
        "milliseconds": round(1e3 * seconds / len(batches), 2),
        "pieces_per_second": round(pieces / seconds),
        "mebibytes": round(torch.cuda.max_memory_allocated(device) / 2**20) if device.type == "cuda" else None,
        "parameters": model.parameters_count,
        "precision": "float32" if autocast is None else "bf16",
    }


def merged(reports: list[Record]) -> Record:
    """One report: variants in the order of the first that names them, the first run of each seed.

    A report that was put together from parts brings these.
    """
    variants, parts = dict[str, Record](), dict[str, Record]()
    for report in reports:
        before = report.get("parts", {"part 1": report["machine"]})
        called = {old: f"part {len(parts) + place}" for place, old in enumerate(before, 1)}
        parts |= {called[old]: machine for old, machine in before.items()}
        for one in report["variants"]:
            known = variants.setdefault(one["name"], {**one, "runs": [], "from": {}})
            seeds = {run["seed"] for run in known["runs"]}
            new = [run for run in one["runs"] if run["seed"] not in seeds]
            known["runs"] = sorted(known["runs"] + new, key=lambda run: run["seed"])
            came = one.get("from", {})
            known["from"] |= {str(run["seed"]): called[came.get(str(run["seed"]), "part 1")] for run in new}
            known["problem"] = "" if known["runs"] else one["problem"]
    for one in variants.values():
        values = {name: [x for run in one["runs"] if (x := figure(run, name)) is not None] for name in FIGURES}
        one["figures"] = {name: asdict(Spread.of(several)) for name, several in values.items() if several}
    steps = {run["steps"] for one in variants.values() for run in one["runs"]}
    if len(steps) > 1:
        raise SystemExit(f"these reports are of different budgets: {sorted(steps)} steps")
    return {**reports[0], "parts": parts, "variants": list(variants.values())}


if __name__ == "__main__":
    main()
