"""Where a run computes: device, precision, threads, and whether its largest batch fits."""

from collections.abc import Callable

import torch

from regard.text.errors import InputError
from regard.train.journal import Warned
from regard.train.loop import Job
from regard.train.step import gradients
from regard.train.threads import best_threads


def pick_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device '{name}' cannot be used here: {error}".splitlines()[0]) from error
    return device


def rehearse(job: Job) -> None:
    """Try the largest batch before anything else: what does not fit must show now, not after hours."""
    _try_step(job)()
    job.bundle.model.zero_grad(set_to_none=True)


def _try_step(job: Job) -> Callable[[], object]:
    """A forward and backward pass over the largest batch that leaves weights and random states as they were."""
    worst = job.batcher.largest_batch().to(job.device)

    def step() -> None:
        state = torch.get_rng_state()
        warn = job.journal.tell
        gradients(
            job.bundle.model, [worst], job.config, 1,
            forced=lambda n: None, autocast=job.autocast, warn=lambda message: warn(Warned(message)),
        )  # fmt: skip
        torch.set_rng_state(state)

    return step


def pick_threads(job: Job) -> int:
    """As the recipe says; one where results must repeat; else whatever is quickest here."""
    if job.config.threads is not None:
        return job.config.threads
    if job.config.deterministic:
        return 1
    return torch.get_num_threads() if job.device.type != "cpu" else best_threads(_try_step(job))


def pick_precision(name: str, device: torch.device) -> torch.dtype | None:
    if name == "auto":
        name = "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    return torch.bfloat16 if name == "bf16" else None


class Determinism:
    """torch's deterministic algorithms for the length of a run."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted

    def __enter__(self) -> None:
        self.before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(self.wanted or self.before)

    def __exit__(self, *details: object) -> None:
        torch.use_deterministic_algorithms(self.before)
