"""One optimizer step: gradients of one or several micro-batches, and smaller ones when memory runs out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.optim import Optimizer

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.registry import release_memory
from regard.torch_private import is_out_of_memory
from regard.training.loss import batch_loss, real_places
from regard.training.train_config import TrainConfig
from regard.training.world import ALONE, Replica


class OutOfMemory(RuntimeError):
    """The batch cannot be split: it has one row, or other workers wait for this one."""


@dataclass(frozen=True)
class MicroBatch:
    """A batch in host memory; `forced` marks the decoder steps that read the true word (None: all of them).

    `forced` may be longer than the batch: it was drawn for the whole batch of which this one is a part.
    """

    batch: Batch
    forced: Bool[Tensor, " target_or_more"] | None = None
    counts: bool = True
    """False: computed only because the other workers wait for this one, which has no rows in this step."""

    def halves(self) -> tuple["MicroBatch", "MicroBatch"]:
        first, second = self.batch.halves()
        return replace(self, batch=first), replace(self, batch=second)


class MemoryLimit:
    """The size of the smallest batch that did not fit into memory: batches of that size are split before they fail."""

    def __init__(self) -> None:
        self.slots: int | None = None

    def split(self, whole: MicroBatch) -> list[MicroBatch]:
        if self.slots is None or whole.batch.slots < self.slots or whole.batch.rows == 1:
            return [whole]
        return [part for half in whole.halves() for part in self.split(half)]

    def lower(self, batch: Batch) -> str:
        """Record a batch that did not fit; returns the warning for the user."""
        width, height = batch.source.size(1), batch.target_out.size(1)
        if batch.rows == 1:
            raise OutOfMemory(
                f"a single sentence pair of {width} source and {height} target pieces does not fit into memory: "
                "lower [text] longest_source and longest_target, or use a smaller model"
            )
        self.slots = batch.slots
        return (
            f"out of memory with {batch.rows} sentences of up to {width} + {height} pieces: "
            "batches of this size are split in two from now on; a smaller batch avoids this"
        )


@dataclass(frozen=True)
class StepOutcome:
    """Mean -log p of the target pieces (no smoothing), the gradient's norm before clipping, the number of pieces."""

    loss: float
    gradient_norm: float
    tokens: int

    @property
    def finite(self) -> bool:
        return math.isfinite(self.gradient_norm)


@dataclass(frozen=True)
class TrainStep:
    """Accumulates gradients, clips them and updates the weights; an update that is not finite is skipped."""

    model: Seq2Seq
    optimizer: Optimizer
    config: TrainConfig
    autocast: torch.dtype | None = None
    replica: Replica = ALONE
    memory: MemoryLimit = field(default_factory=MemoryLimit)

    def __call__(self, parts: Sequence[MicroBatch], tokens: int, warn: Callable[[str], None]) -> StepOutcome:
        """`tokens` counts the target pieces of all workers in this step; `warn` is called when memory runs out."""
        loss = self.gradients(parts, tokens, warn)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip or math.inf)
        outcome = StepOutcome(loss, float(norm), tokens)
        if outcome.finite:
            self.optimizer.step()
        return outcome

    def gradients(self, parts: Sequence[MicroBatch], tokens: int, warn: Callable[[str], None]) -> float:
        """Compute the gradients of the mean objective over `tokens`; returns the mean log loss.

        The gradients do not depend on how the rows are divided into micro-batches and among workers.
        """
        device = next(self.model.parameters()).device
        while True:
            self.model.zero_grad(set_to_none=True)
            total = torch.zeros((), device=device)
            too_large = None
            small = [part for whole in parts for part in self.memory.split(whole)]
            for number, part in enumerate(small, start=1):
                last = number == len(small)
                try:
                    log_loss = self._backward(part, tokens, device, last)
                    if part.counts:
                        total += log_loss
                except RuntimeError as error:
                    if not is_out_of_memory(error):
                        raise
                    if last and self.replica.size > 1:
                        raise OutOfMemory(_too_late(part.batch)) from error
                    too_large = part.batch
                    break
            if too_large is None:
                return self.replica.world.total(float(total)) / tokens
            # Not inside `except`: its traceback keeps the tensors of the failed attempt alive.
            warn(self.memory.lower(too_large))
            if device.type == "cuda":
                release_memory()

    def _backward(self, part: MicroBatch, tokens: int, device: torch.device, last: bool) -> Tensor:
        """Add the gradients of one micro-batch; returns its summed log loss."""
        config, replica = self.config, self.replica
        loss = partial(
            batch_loss,
            self.model,
            part.batch.to(device),
            smoothing=config.label_smoothing,
            forced=None if part.forced is None else part.forced[: part.batch.target_in.size(1)],
            scale=replica.size / tokens if part.counts else 0.0,  # DDP takes the mean over workers
            places=real_places(part.batch.target_out).to(device),
            agreement=config.agreement,
        )
        with replica.adding(last):
            with torch.autocast(device.type, dtype=self.autocast, enabled=self.autocast is not None):
                losses = loss() if replica.parallel is None else replica.parallel(loss)
            torch.autograd.backward(losses.objective)
        return losses.log_loss


def _too_late(batch: Batch) -> str:
    """Other workers may have received a part of this worker's gradients: the step cannot be repeated with halves."""
    return (
        f"out of memory with {batch.rows} sentences of {batch.source.size(1)} + {batch.target_out.size(1)} pieces "
        "while workers wait for each other: resume with --resume and more workers, whose shares are smaller, or start "
        "again with a smaller batch"
    )
