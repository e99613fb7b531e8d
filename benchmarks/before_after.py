"""Two checkouts of regard, benchmarks side by side: nothing may be slower by more than 3 % and the spread.

    git worktree add ../old 31eb2fa
    OMP_NUM_THREADS=1 python benchmarks/before_after.py ../old . --json docs/results/before_after_cpu.json
    python benchmarks/before_after.py ../old . --gpu --json docs/results/before_after_gpu.json

Each checkout runs in one child process (`before_after_child.py`), with the interpreter that runs this script. A child
builds a model, calls it until kernels are compiled and graphs captured, and then measures when this script requests it,
so that the checkouts take turns within seconds. Rows are our own times in `regard bench` (training steps), in
`benchmarks/decoding.py` (beam search) and in `benchmarks/additive_kernel.py`. On a CPU with one thread a time is the
processor time of the child, which other programs disturb less. A row is the median over turns; its spread is half the
distance between the quartiles, relative to the median, of the side where it is larger. The exit status is 1 if a row is
slower by more than 3 % and its spread.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ALLOWED = 0.03
ALLOCATOR = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**30)}
"""glibc moves these thresholds with a process's history: the same code took 21 or 27 ms, from process to process."""
CHILD = Path(__file__).with_name("before_after_child.py").resolve()


class Side:
    """A checkout and the process that measures it."""

    def __init__(self, checkout: Path, device: str) -> None:
        self.checkout = checkout.resolve()
        folders = [self.checkout / "src", self.checkout / "benchmarks"]
        path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(CHILD), device],
            env={**os.environ, **ALLOCATOR, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        first = self._answer()
        self.rows: list[str] = first["rows"]
        if not Path(first["package"]).is_relative_to(self.checkout):
            sys.exit(f"{self.checkout}: the child imported regard from {first['package']}")

    def request(self, row: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{row}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.checkout}: the child process ended with {self.process.wait()}")
        return json.loads(line)

    @property
    def commit(self) -> str:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=self.checkout, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or self.checkout.name


def compare(old: list[float], new: list[float]) -> dict[str, Any]:
    before, after = statistics.median(old), statistics.median(new)
    spread = max(_quartile_range(values) / 2 / statistics.median(values) for values in (old, new))
    change = after / before - 1
    return {
        "before": round(before, 4),
        "after": round(after, 4),
        "change": round(change, 4),
        "spread": round(spread, 4),
        "slower": change > ALLOWED + spread,
        "turns": {"before": old, "after": new},
    }


def _quartile_range(values: list[float]) -> float:
    low, _, high = statistics.quantiles(values, n=4)
    return high - low


def measure(row: str, sides: dict[str, Side], turns: int) -> dict[str, Any]:
    times: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side.request(row)  # builds the model and warms up
    for turn in range(turns):
        for name in sides if turn % 2 == 0 else reversed(sides):
            times[name].append(round(sides[name].request(row)["milliseconds"], 4))
    return compare(times["before"], times["after"])


def machine(device: str) -> dict[str, str]:
    import torch

    from regard.lab.machine import describe_machine

    return describe_machine(torch.device(device))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", type=Path)
    options.add_argument("new", type=Path)
    options.add_argument("--gpu", action="store_true")
    options.add_argument("--turns", type=int, default=9)
    options.add_argument("--row", action="append", default=[], help="only rows whose name contains this (repeatable)")
    options.add_argument("--seconds", type=float, default=float("inf"), help="start no row after this many seconds")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    began = time.monotonic()
    device = "cuda" if given.gpu else "cpu"
    sides = {"before": Side(given.old, device), "after": Side(given.new, device)}
    record: dict[str, Any] = {**machine(device), **{name: side.commit for name, side in sides.items()}, "rows": {}}
    for row in sides["after"].rows:
        if (given.row and not any(part in row for part in given.row)) or time.monotonic() - began > given.seconds:
            continue
        found = measure(row, sides, given.turns)
        record["rows"][row] = found
        print(
            f"{row:<64} {found['before']:9.3f} → {found['after']:9.3f} ms  {found['change']:+.1%} "
            f"± {found['spread']:.1%}{'  SLOWER' if found['slower'] else ''}",
            flush=True,
        )
        if given.json is not None:
            given.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(any(row["slower"] for row in record["rows"].values()))


if __name__ == "__main__":
    main()
