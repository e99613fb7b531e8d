"""How many CPU threads a training step runs fastest with: measured, not assumed."""

import os
import time
from collections.abc import Callable

import torch


def best_threads(step: Callable[[], object], candidates: tuple[int, ...] | None = None, repeats: int = 3) -> int:
    """Run `step` a few times with each number of threads and return the quickest; small tensors often want one.

    More threads must win by a tenth: on a busy machine they lose what they gain on an idle one.
    """
    if candidates is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        candidates = tuple(count for count in (1, 2, 4, 8, 16) if count <= cores)
    before = torch.get_num_threads()
    best, best_time = candidates[0], float("inf")
    for count in candidates:
        torch.set_num_threads(count)
        step()
        quickest = min(_seconds(step) for _ in range(repeats))
        if quickest < best_time * (0.9 if best_time < float("inf") else 1.0):
            best, best_time = count, quickest
    torch.set_num_threads(before)
    return best


def _seconds(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start
