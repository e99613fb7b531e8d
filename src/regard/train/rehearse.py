"""What a run tries out before its first step: whether the largest batch fits, and how many threads are quickest."""

from collections.abc import Callable

import torch

from regard.train.job import Job
from regard.train.step import Portion, gradients
from regard.train.threads import best_threads


def rehearse(job: Job, known_threads: int | None) -> tuple[int, tuple[str, ...]]:
    """The number of threads to use, and what the user should hear: what does not fit shows now, not after hours.

    Weights and random states stay as they were.
    """
    warnings: list[str] = []
    attempt = _attempt(job, warnings.append)
    with torch.random.fork_rng(devices=[job.device] if job.device.type == "cuda" else []):
        job.model.train()
        attempt()
        threads = known_threads or _pick_threads(job, attempt)
        job.model.zero_grad(set_to_none=True)
    return threads, tuple(warnings)


def _attempt(job: Job, warn: Callable[[str], None]) -> Callable[[], object]:
    """A forward and backward pass over the largest batch."""
    largest = Portion(job.data.batcher.largest_batch())
    smoothing = job.config.label_smoothing
    return lambda: gradients(job.model, [largest], smoothing, 1, room=job.room, autocast=job.autocast, warn=warn)


def _pick_threads(job: Job, attempt: Callable[[], object]) -> int:
    """As the recipe says; one where results must repeat; else whatever is quickest here."""
    if job.config.threads is not None:
        return job.config.threads
    if job.config.deterministic:
        return 1
    return best_threads(attempt) if job.device.type == "cpu" else torch.get_num_threads()
