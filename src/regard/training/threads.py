"""How many CPU threads a training step runs fastest with: measured, not assumed."""

import os
import time
from collections.abc import Callable, Sequence

import torch

GAIN = 2 / 3
"""What more threads must bring the time down to before they are used."""
REPEATS = 3
PATIENCE = 1.0
"""Seconds: a step that takes longer is not repeated."""


def best_threads(
    step: Callable[[], object],
    candidates: Sequence[int] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    workers: int = 1,
) -> int:
    """Run `step` a few times with each number of threads and return the quickest; small tensors often want one.

    More threads must win by half: on a busy machine, small tensors on two threads run many times slower than on one.
    `workers` of this machine share its cores.
    """
    before = torch.get_num_threads()
    best, best_time = 1, float("inf")
    try:
        for count in candidates or _powers_of_two(workers):
            torch.set_num_threads(count)
            step()
            quickest = _seconds(step, clock)
            if quickest < PATIENCE:
                quickest = min(quickest, *(_seconds(step, clock) for _ in range(REPEATS - 1)))
            if best_time == float("inf") or quickest < best_time * GAIN:
                best, best_time = count, quickest
    finally:
        torch.set_num_threads(before)
    return best


def _powers_of_two(workers: int) -> list[int]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [count for count in (1, 2, 4, 8, 16) if count <= max(1, cores // workers)]


def _seconds(step: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    step()
    return clock() - start
