"""Fuzzes what `regard` reads: no "unexpected" line, no traceback, no hang, at most 2 GB of memory.

    python benchmarks/fuzz.py [--target bundle recipe data onnx] [--seconds 600] [--seed 7] [--out FILE.json]

Each target runs for `--seconds` in a child process; a finding keeps its files in `--found`. The fuzzer is
tests/chaos/fuzzing.py; `make test` runs a few cases of each target.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
TARGETS = ("bundle", "recipe", "data", "onnx")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--target", nargs="+", choices=TARGETS, default=TARGETS)
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument("--cases", type=int, help="The most cases for each target.")
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "regard-fuzz")
    options.add_argument("--out", type=Path, default=Path("docs/results/fuzz.json"))
    options.add_argument("--only", choices=TARGETS, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.only:
        print(json.dumps(run(given.only, given.found, given.seconds, given.seed, given.cases)))
        return 0
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    targets: dict[str, dict[str, object]] = {}
    for target in given.target:
        command = [sys.executable, "-W", "ignore", *sys.argv, "--only", target]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        targets[target] = json.loads(done.stdout.splitlines()[-1])
        print(target, json.dumps(targets[target], indent=1))
    from torch import device

    from regard.lab.machine import describe_machine

    record = {**describe_machine(device("cpu")), "seed": given.seed, "targets": targets}
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(any(one["findings"] for one in targets.values()))


def run(target: str, found: Path, seconds: float, seed: int, cases: int | None) -> dict[str, object]:
    sys.path.insert(0, str(TESTS))
    from chaos.fuzzing import fuzz

    found.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=f"{target}-", dir=found.resolve()))
    return fuzz(target, root, seconds, seed, cases)


if __name__ == "__main__":
    sys.exit(main())
