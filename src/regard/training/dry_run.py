"""A dry run before the first step: whether the largest batch fits into memory, and how many threads are fastest."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from regard.data.worker_pool import count_cores
from regard.training.job import TrainingJob
from regard.training.optimizer_step import MicroBatch
from regard.training.world import World

GAIN = 2 / 3
"""More threads are used only if they bring the time below this share of the best time so far."""
REPEATS = 3
SLOW = 1.0
"""Seconds: a step that takes longer is not repeated."""


@dataclass(frozen=True)
class DryRun:
    """The number of threads to use, warnings for the user, and whether some parameters got no gradient."""

    threads: int
    warnings: tuple[str, ...]
    unused: bool
    seconds: float
    """Seconds for the gradients of the largest batch."""

    def agreed(self, world: World) -> "DryRun":
        """The threads of worker 0; warnings and unused parameters of all."""
        everybody = world.gather(self)
        warnings = dict.fromkeys(warning for one in everybody for warning in one.warnings)
        slowest = max(one.seconds for one in everybody)
        return DryRun(everybody[0].threads, tuple(warnings), any(one.unused for one in everybody), slowest)


def dry_run(job: TrainingJob, known_threads: int | None) -> DryRun:
    """Compute the gradients of this worker's share of the largest batch; weights and random states do not change."""
    batcher, warnings = job.data.batcher, list[str]()
    largest = batcher.largest_batch()
    if job.world.size > 1:
        largest = batcher.batch(largest.indices.numpy()[:: job.world.size])

    def attempt() -> None:
        job.step.gradients([MicroBatch(largest)], 1, warnings.append)

    with torch.random.fork_rng(devices=[job.device] if job.device.type == "cuda" else []):
        job.model.train()
        attempt()
        unused = any(parameter.grad is None for parameter in job.model.parameters() if parameter.requires_grad)
        threads = known_threads or _pick_threads(job, attempt)
        torch.set_num_threads(threads)
        start = time.perf_counter()
        attempt()
        if job.device.type == "cuda":
            torch.cuda.synchronize(job.device)
        seconds = time.perf_counter() - start
        job.model.zero_grad(set_to_none=True)
    return DryRun(threads, tuple(warnings), unused, seconds)


def _pick_threads(job: TrainingJob, attempt: Callable[[], object]) -> int:
    """The recipe's number; 1 for a deterministic run; else OMP_NUM_THREADS where it is set, or the fastest."""
    if job.config.threads is not None:
        return job.config.threads
    if job.config.deterministic:
        return 1
    if job.device.type != "cpu" or os.environ.get("OMP_NUM_THREADS"):  # torch has read it
        return torch.get_num_threads()
    share = max(1, count_cores() // job.world.local_size)  # the workers of a machine share its cores
    return best_threads(attempt, [count for count in (1, 2, 4, 8, 16) if count <= share])


def best_threads(
    step: Callable[[], object], candidates: Sequence[int], clock: Callable[[], float] = time.perf_counter
) -> int:
    """Time `step` with each number of threads and return the fastest; for small tensors that is often one.

    More threads must save a third of the time: on a busy machine, small tensors run many times slower on two threads.
    """

    def seconds() -> float:
        start = clock()
        step()
        return clock() - start

    before = torch.get_num_threads()
    best, best_time = 1, float("inf")
    try:
        for count in candidates:
            torch.set_num_threads(count)
            step()  # warm-up
            fastest = seconds()
            if fastest < SLOW:
                fastest = min(fastest, *(seconds() for _ in range(REPEATS - 1)))
            if best_time == float("inf") or fastest < best_time * GAIN:
                best, best_time = count, fastest
    finally:
        torch.set_num_threads(before)
    return best
