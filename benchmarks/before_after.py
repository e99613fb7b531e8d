"""Two checkouts of regard, benchmarks side by side: nothing may be slower by more than 3 % and the spread.

    git worktree add ../old 31eb2fa
    OMP_NUM_THREADS=1 python benchmarks/before_after.py ../old . --json docs/results/before_after_cpu.json
    python benchmarks/before_after.py ../old . --gpu --json docs/results/before_after_gpu.json

The checkouts take turns: each runs its own `regard bench`, `benchmarks/decoding.py` and, on a GPU,
`benchmarks/additive_kernel.py`, in a child process, with the interpreter that runs this script. A row is the
median over turns; its spread is half the distance between the quartiles, relative to the median, of the side where it
is larger. The exit status is 1 if a row is slower by more than 3 % and its spread. `--only bench` runs only that one. A
turn takes about two minutes of a core on a CPU; `--seconds 1100` ends after about 20 minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

Figures = dict[str, float]
ALLOWED = 0.03


def commands(gpu: bool, repeats: int) -> dict[str, list[str]]:
    """The arguments of each benchmark; OUT stands for the file that it writes."""
    if not gpu:
        return {
            "bench": ["-m", "regard", "bench", "--repeats", str(repeats), "--json", "OUT"],
            "decoding": ["benchmarks/decoding.py", "--threads", "1", "--sample", "1", "--json", "OUT"],
        }
    works = ["--work", "paper", "--work", "multi30k"]
    return {
        "bench": ["-m", "regard", "bench", "--gpu", *works, "--repeats", str(repeats), "--json", "OUT"],
        "decoding": ["benchmarks/decoding.py", "--device", "cuda", "--sample", "1", "--json", "OUT"],
        "additive_kernel": ["benchmarks/additive_kernel.py", "--no-compile", "--no-tilings", "--out", "OUT"],
    }


def milliseconds(benchmark: str, record: Any) -> Figures:
    """The times of our own implementations in the output of a benchmark."""
    if benchmark == "bench":
        return {
            f"{work['work']['name']}, {timing['name']}": timing["milliseconds"]
            for work in record["training"]
            for timing in work["timings"]
            if timing["name"].startswith("ours")
        }
    if benchmark == "decoding":
        ours = record["runs"][0]["ours"]
        return {
            "beam search, a sentence of a batch": 1e3 / ours["sentences_per_second"],
            "beam search, one sentence alone": 1e3 * ours["latency"],
        }
    return {
        name: row["ms"] for name, row in record["sizes"].items() if name.startswith("fused") and isinstance(row, dict)
        if "ms" in row
    }  # fmt: skip


def run(checkout: Path, benchmark: str, arguments: list[str]) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        command = [sys.executable, *(str(out) if one == "OUT" else one for one in arguments)]
        path = os.pathsep.join([str(checkout / "src"), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not out.exists():
            sys.exit(f"{checkout}: {' '.join(command[1:])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return milliseconds(benchmark, json.loads(out.read_text(encoding="utf-8")))


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


def machine(gpu: bool) -> dict[str, str]:
    import torch

    from regard.lab.machine import describe_machine

    return describe_machine(torch.device("cuda" if gpu else "cpu"))


def commit(checkout: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=checkout, capture_output=True, text=True)
    return done.stdout.strip() or checkout.name


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", type=Path)
    options.add_argument("new", type=Path)
    options.add_argument("--gpu", action="store_true")
    options.add_argument("--turns", type=int, default=7)
    options.add_argument("--repeats", type=int, default=1, help="of `regard bench` within a turn")
    options.add_argument("--only", action="append", default=[], help="bench, decoding, additive_kernel (repeatable)")
    options.add_argument("--seconds", type=float, default=float("inf"), help="start no turn after this many seconds")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    began = time.monotonic()
    checkouts = {"before": given.old.resolve(), "after": given.new.resolve()}
    chosen = {name: one for name, one in commands(given.gpu, given.repeats).items() if name in (given.only or [name])}
    times: dict[str, dict[str, list[float]]] = {}
    for turn in range(given.turns):
        if time.monotonic() - began > given.seconds:
            break
        for benchmark, arguments in chosen.items():
            for side in ("before", "after") if turn % 2 == 0 else ("after", "before"):
                for row, value in run(checkouts[side], benchmark, arguments).items():
                    times.setdefault(f"{benchmark}: {row}", {"before": [], "after": []})[side].append(round(value, 4))
        print(f"turn {turn + 1} of {given.turns}, {time.monotonic() - began:.0f} s", flush=True)
        rows = {
            name: compare(values["before"], values["after"])
            for name, values in times.items()
            if min(map(len, values.values())) > 1
        }
        record = {
            **machine(given.gpu),
            "before": commit(checkouts["before"]),
            "after": commit(checkouts["after"]),
            "rows": rows,
        }
        if given.json is not None:
            given.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, found in rows.items():
        print(
            f"{name:<70} {found['before']:9.3f} → {found['after']:9.3f} ms  {found['change']:+.1%} "
            f"± {found['spread']:.1%}{'  SLOWER' if found['slower'] else ''}"
        )
    sys.exit(any(row["slower"] for row in rows.values()))


if __name__ == "__main__":
    main()
