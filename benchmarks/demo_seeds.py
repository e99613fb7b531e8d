"""The demo for every pair and several seeds: exact match and alignment error on unseen sentences.

    python benchmarks/demo_seeds.py --out docs/results/demo.json [--seeds 0 1 2] [--jobs 1]

Each run is what `regard demo --pair P --seed S` trains and measures; `--jobs` runs several at a time, one thread each.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

PAIRS = ("en-fr", "fr-en", "en-hi")


def run(pair: str, seed: int, folder: Path) -> dict[str, object]:
    """Run one demo in a child process and return its report."""
    out = folder / f"{pair}-{seed}"
    command = [sys.executable, "-m", "regard", "demo", "--pair", pair, "--seed", str(seed), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    report: dict[str, object] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return report


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("docs/results/demo.json"))
    options.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options.add_argument("--jobs", type=int, default=1)
    given = options.parse_args()
    wanted = [(pair, seed) for pair in PAIRS for seed in given.seeds]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        reports = list(pool.map(lambda one: run(*one, Path(folder)), wanted))
    keys = ("pair", "seed", "exact_match", "aer", "bleu", "sentences", "train_seconds", "showcase")
    record = {
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {given.jobs} side by side",
        "runs": [{key: report[key] for key in keys if key in report} for report in reports],
        "by_length": {f"{report['pair']}-{report['seed']}": report["by_length"] for report in reports},
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    for pair in PAIRS:
        mine = [report for report in reports if report["pair"] == pair]
        errors = [float(str(report["aer"])) for report in mine]
        matches = [float(str(report["exact_match"])) for report in mine]
        print(
            f"{pair}  exact match {', '.join(f'{one:.1%}' for one in matches)}  "
            f"AER {', '.join(f'{one:.3f}' for one in errors)} (median {statistics.median(errors):.3f})"
        )


if __name__ == "__main__":
    main()
