"""What a run tries out before its first step: whether the largest batch fits, and how many threads are quickest."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from regard.training.job import Job
from regard.training.step import Portion, gradients
from regard.training.threads import best_threads
from regard.training.world import World


@dataclass(frozen=True)
class Rehearsal:
    """The number of threads to use, what the user should hear, and whether some parameters got no gradient."""

    threads: int
    warnings: tuple[str, ...]
    unused: bool

    def agreed(self, world: World) -> "Rehearsal":
        """What the writer found best, and what any worker found out."""
        everybody = world.gather(self)
        warnings = dict.fromkeys(warning for one in everybody for warning in one.warnings)
        return Rehearsal(everybody[0].threads, tuple(warnings), any(one.unused for one in everybody))


def rehearse(job: Job, known_threads: int | None) -> Rehearsal:
    """Try out the largest batch: what does not fit shows now, not after hours. Weights and random states stay."""
    warnings: list[str] = []
    attempt = _attempt(job, warnings.append)
    with torch.random.fork_rng(devices=[job.device] if job.device.type == "cuda" else []):
        job.model.train()
        attempt()
        unused = any(parameter.grad is None for parameter in job.model.parameters() if parameter.requires_grad)
        threads = known_threads or _pick_threads(job, attempt)
        job.model.zero_grad(set_to_none=True)
    return Rehearsal(threads, tuple(warnings), unused)


def _attempt(job: Job, warn: Callable[[str], None]) -> Callable[[], object]:
    """A forward and backward pass over this worker's share of the largest batch."""
    largest = job.data.batcher.largest_batch()
    if job.world.size > 1:
        largest = job.data.batcher.batch(largest.indices.numpy()[:: job.world.size])
    smoothing = job.config.label_smoothing
    return lambda: gradients(
        job.model, [Portion(largest)], smoothing, 1, room=job.room, autocast=job.autocast, warn=warn
    )


def _pick_threads(job: Job, attempt: Callable[[], object]) -> int:
    """As the recipe says; one where results must repeat; else whatever is quickest here."""
    if job.config.threads is not None:
        return job.config.threads
    if job.config.deterministic:
        return 1
    if job.device.type != "cpu":
        return torch.get_num_threads()
    return best_threads(attempt, workers=job.world.local_size)
