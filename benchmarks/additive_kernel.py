"""Fused additive attention on a GPU: agreement with float64 first, then time and memory of sizes and of tilings.

    python benchmarks/additive_kernel.py --out docs/results/additive_kernel.json [--seconds 270] [--no-compile]

Kernels that disagree are not timed: every output and gradient must lie within twice plain torch's own distance from
float64, in the same precision. Times are medians of CUDA events. The share of the limit is the time that many tanh
would take, forward and again backward, at the rate `tanh.approx.f32` reaches on an H200 (4.09 T/s), over the time.
"""

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from datetime import date
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from additive_measure import (
    Agreement,
    Call,
    Work,
    agreement,
    draw,
    fused,
    graph_milliseconds,
    kernel_times,
    measure,
    milliseconds,
    plain_attention,
    solve,
)
from regard.fast.additive import launch, launch_backward
from regard.fast.additive.launch import GradientTiling, ScoreTiling, Tilings

STARTED = time.monotonic()

GOAL = Work(64, 256, 256, 512, 512)
LONG = Work(16, 1024, 1024, 256, 256)
VAST = Work(4, 4096, 4096, 512, 512)
PAPER = Work(80, 50, 50, 1000, 2000)
FEW = (replace(PAPER, target=1), Work(320, 1, 30, 512, 1024), Work(1, 1, 30, 512, 1024))
ODD = Work(3, 37, 75, 100, 60)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)

SCORES = [
    ScoreTiling(16, 128, 8, 1),
    ScoreTiling(16, 128, 4, 1),
    ScoreTiling(16, 128, 16, 1),
    ScoreTiling(16, 128, 8, 1, 128),
    ScoreTiling(32, 128, 8, 2),
    ScoreTiling(32, 64, 8, 1),
    ScoreTiling(16, 64, 8, 1),
    ScoreTiling(32, 128, 4, 1),
    ScoreTiling(8, 256, 8, 1),
    ScoreTiling(16, 128, 8, 1, None, torch.bfloat16),
]
GRADIENTS = [
    GradientTiling(32, 64, 2, 16, 1),
    GradientTiling(32, 64, 2, 16, 1, 208),
    GradientTiling(32, 64, 2, 16, 1, 168),
    GradientTiling(32, 64, 2, 16, 1, None, True),
    GradientTiling(32, 64, 2, 16, 1, 168, True),
    GradientTiling(16, 128, 4, 16, 1, 168),
    GradientTiling(16, 64, 2, 16, 1),
    GradientTiling(16, 64, 2, 16, 1, None, True),
    GradientTiling(64, 64, 2, 16, 2),
]


def left(seconds: float) -> float:
    return seconds - (time.monotonic() - STARTED)


def say(*words: object) -> None:
    print(f"[{time.monotonic() - STARTED:5.0f} s]", *words, flush=True)


def tried(record: dict[str, Any], key: str, run: Callable[[], Any]) -> Any:
    """Record a failure and continue with the rest."""
    try:
        record[key] = run()
    except Exception as error:
        record[key] = f"{type(error).__name__}: {str(error)[:300]}"
    say(key, "→", record[key])
    return record[key]


def agreements(record: dict[str, Any]) -> set[torch.dtype]:
    """Small and odd sizes in every precision; returns the precisions that agree everywhere."""
    good = set(DTYPES)
    for dtype in DTYPES:
        work = replace(ODD, dtype=dtype)
        cases = {
            "": (work, {}),
            " gaussian": (work, {"gaussian": True}),
            " saturated": (work, {"shift": 40.0}),
            " few queries": (replace(work, target=1), {"gaussian": True}),
            " large": (replace(GOAL, batch=2, dtype=dtype), {}),
        }
        for name, (sizes, options) in cases.items():
            for kind, deterministic in (("", False), (" deterministic", True)):
                call = fused(deterministic=deterministic)
                found = tried(record, f"{sizes}{name}{kind}", partial(_verdict, sizes, call, **options))
                if not found.startswith("worst"):
                    good.discard(dtype)
    return good


def _verdict(work: Work, call: Call, **options: Any) -> str:
    return str(_checked(work, call, **options))


def _checked(work: Work, call: Call, **options: Any) -> Agreement:
    found = agreement(work, call, **options)
    if not found.holds:
        raise AssertionError(f"disagrees; {found}")
    return found


def variants(record: dict[str, Any], seconds: float) -> None:
    """Every tiling at the goal's sizes: agreement on two sentences, then forward or backward alone on the batch."""
    small = replace(GOAL, batch=2)
    inputs, d_context, _ = draw(GOAL, 1, padding=False)
    _, weights, softmax = launch.forward(inputs)
    rows: list[tuple[str, Tilings, bool]] = [("score", Tilings(score=tiling), False) for tiling in SCORES]
    rows += [("gradient", Tilings(gradient=tiling), False) for tiling in GRADIENTS]
    rows += [("deterministic", Tilings(deterministic=GradientTiling(paired=p)), True) for p in (False, True)]

    def one(part: str, tilings: Tilings, deterministic: bool) -> dict[str, Any]:
        found = _checked(small, fused(tilings, deterministic))
        if part == "score":
            ms = milliseconds(lambda: launch.forward(inputs, tilings))
        else:
            ms = milliseconds(
                lambda: launch_backward.backward(inputs, softmax, weights, d_context, None, deterministic, tilings)
            )
        return {"ms": round(ms, 4), "worst ratio": round(found.ratio, 2)}

    default_memory = launch.TEMPORARY
    launch.TEMPORARY = 2**30
    tried(record, "score, the batch in one piece", lambda: milliseconds(lambda: launch.forward(inputs)))
    launch.TEMPORARY = default_memory
    for part, tilings, deterministic in rows:
        if left(seconds) < 0:
            say("no time left for more tilings")
            return
        chosen = {key: str(value) for key, value in asdict(getattr(tilings, part)).items()}
        name = f"{part} " + " ".join(f"{key}={value}" for key, value in chosen.items())
        tried(record, name, partial(one, part, tilings, deterministic))


def sizes(record: dict[str, Any], good: set[torch.dtype], seconds: float, compile_too: bool) -> None:
    """Whole calls through the public function; also plain torch if it fits into memory."""
    if torch.bfloat16 in good:
        tried(record, f"fused {GOAL}", lambda: measure(GOAL, fused()))
        tried(record, f"fused {GOAL} graph ms", lambda: graph_milliseconds(GOAL, fused()))
        tried(record, f"fused {GOAL} kernels, µs", lambda: kernel_times(GOAL, fused()))
        tried(record, f"fused {GOAL} a quarter padding", lambda: measure(GOAL, fused(), padding=True))
        tried(record, f"fused deterministic {GOAL}", lambda: measure(GOAL, fused(deterministic=True)))
        tried(record, f"fused {LONG}", lambda: measure(LONG, fused()))
        tried(record, f"fused {VAST}", lambda: measure(VAST, fused(), 5))
    for dtype in good - {torch.bfloat16}:
        work = replace(GOAL, dtype=dtype)
        tried(record, f"fused {work}", partial(measure, work, fused()))
    for work in (PAPER, *FEW) if torch.bfloat16 in good else ():
        tried(record, f"fused {work}", partial(measure, work, fused()))
        tried(record, f"plain {work}", partial(measure, work, plain_attention))
    tried(record, f"plain {GOAL}", lambda: measure(GOAL, plain_attention, 5))
    if left(seconds) > 30:
        tried(record, f"plain {LONG}", lambda: measure(LONG, plain_attention, 3))
    if compile_too and left(seconds) > 60:
        compiled = torch.compile(plain_attention)
        tried(record, f"compiled {GOAL}", lambda: measure(GOAL, compiled, 5))


def warm(tilings: Tilings, deterministic: bool, work: Work, gaussian: bool = False) -> None:
    """Compile in a child process, so that many compile in parallel; the main process finds the result in the cache."""
    inputs, d_context, d_weights = draw(work, 0, gaussian)
    solve(fused(tilings, deterministic), inputs, d_context, d_weights, work.dtype)
    torch.cuda.synchronize()


def compile_all(jobs: int) -> dict[str, str]:
    """Every kernel this run will use; what failed to compile, and why."""
    small, default = replace(GOAL, batch=1), launch.DEFAULT
    wanted: list[tuple[Tilings, bool, Work, bool]] = []
    wanted += [(Tilings(gradient=tiling), False, small, False) for tiling in GRADIENTS]
    wanted += [(Tilings(score=tiling), False, small, False) for tiling in SCORES]
    wanted += [(Tilings(deterministic=GradientTiling(paired=p)), True, small, False) for p in (False, True)]
    for dtype in DTYPES:
        sizes = (ODD, replace(ODD, target=1), small)
        wanted += [(default, d, replace(w, dtype=dtype), w is not small) for w in sizes for d in (False, True)]
    wanted += [(default, False, replace(work, batch=1), False) for work in (LONG, VAST, PAPER, *FEW)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {str(job): pool.submit(warm, *job) for job in wanted}
        failures = {name: job.exception() for name, job in waiting.items()}
    return {name: str(error)[-500:] for name, error in failures.items() if error}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("docs/results/additive_kernel.json"))
    options.add_argument("--seconds", type=float, default=270, help="skip measurements that would run longer")
    options.add_argument("--no-compile", action="store_true", help="skip torch.compile of plain torch")
    options.add_argument("--no-tilings", action="store_true", help="measure the tilings in use only")
    options.add_argument("--jobs", type=int, default=14, help="processes that compile in parallel")
    given = options.parse_args()
    import triton

    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__}
    record: dict[str, Any] = {"date": date.today().isoformat(), **machine, "agreement": {}, "tilings": {}, "sizes": {}}
    say(machine)
    record["not compiled"] = compile_all(given.jobs)
    say("compiled; failures:", record["not compiled"])
    good = agreements(record["agreement"])
    say("precisions that agree, and are timed:", good)
    if not given.no_tilings and torch.bfloat16 in good:
        variants(record["tilings"], given.seconds - 70)
    try:
        sizes(record["sizes"], good, given.seconds, not given.no_compile)
    finally:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(record, indent=1, ensure_ascii=False, default=str), encoding="utf-8")
        table(record)


def table(record: dict[str, Any]) -> None:
    columns = ("ms", "forward", "MiB", "beyond", "Ttanh/s", "limit")
    print(f"\n{'forward + backward':<72} " + " ".join(f"{name:>8}" for name in columns))
    for name, row in record.get("sizes", {}).items():
        if isinstance(row, dict) and "ms" in row:
            print(
                f"{name:<72} {row['ms']:8.3f} {row['forward ms']:8.3f} {row['peak']:8.0f} "
                f"{row['peak beyond results']:8.0f} {row['Ttanh/s']:8.2f} {row['share of limit']:8.0%}"
            )
        elif not isinstance(row, dict):
            print(f"{name:<72} {row if isinstance(row, str) else format(row, '8.3f')}")
    print("\ntilings, forward or backward alone")
    for name, row in record["tilings"].items():
        print(f"{name:<105} {row}")


if __name__ == "__main__":
    main()
