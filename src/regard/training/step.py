"""One optimizer step: gradients over one or several batches, and what to do when memory runs out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.optim import Optimizer

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.registry import release_memory
from regard.training.config import TrainConfig
from regard.training.loss import batch_loss, real_places
from regard.training.world import ALONE, Replica


class OutOfMemory(RuntimeError):
    """Not even a single sentence fits."""


@dataclass(frozen=True)
class Portion:
    """A batch, in main memory, and which of its decoder steps read the true word (None: all, else at least so many)."""

    batch: Batch
    forced: Bool[Tensor, " target_or_more"] | None = None
    counts: bool = True
    """False: computed only because the other workers wait for this one, which has no rows in this step."""

    def halves(self) -> tuple["Portion", "Portion"]:
        """The same work in two parts: the coins of the batch hold for both."""
        first, second = self.batch.halves()
        return replace(self, batch=first), replace(self, batch=second)

    @property
    def coins(self) -> Bool[Tensor, " target"] | None:
        """`forced`, for as many steps as this batch has."""
        return None if self.forced is None else self.forced[: self.batch.target_in.size(1)]


class Room:
    """How much fits into memory, learnt from the first batch that does not: larger ones are split before they fail."""

    def __init__(self) -> None:
        self.limit: int | None = None

    def divide(self, portion: Portion) -> list[Portion]:
        if self.limit is None or portion.batch.slots < self.limit or portion.batch.rows == 1:
            return [portion]
        return [part for half in portion.halves() for part in self.divide(half)]

    def shrink(self, batch: Batch) -> str:
        """Take note of a batch that did not fit; what to tell the user about it."""
        width, height = batch.source.size(1), batch.target_out.size(1)
        if batch.rows == 1:
            raise OutOfMemory(
                f"a single sentence pair of {width} source and {height} target pieces does not fit into memory: "
                "lower [text] longest_source and longest_target, or use a smaller model"
            )
        self.limit = batch.slots
        return (
            f"out of memory with {batch.rows} sentences of up to {width} + {height} pieces: "
            "batches of this size are split in two from now on; a smaller batch avoids this"
        )


@dataclass(frozen=True)
class Outcome:
    """Mean -log p of the target pieces (no smoothing), the gradient's norm before clipping, and how many they were."""

    loss: float
    gradient_norm: float
    tokens: int

    @property
    def finite(self) -> bool:
        return math.isfinite(self.gradient_norm)


def train_step(
    model: Seq2Seq,
    optimizer: Optimizer,
    portions: Sequence[Portion],
    config: TrainConfig,
    *,
    room: Room,
    tokens: int | None = None,
    replica: Replica = ALONE,
    autocast: torch.dtype | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Outcome:
    """Accumulate, clip, update; an update that is not finite is left out.

    `tokens` counts the target pieces of all workers; those of `portions` if left out.
    """
    if tokens is None:
        tokens = sum(int(portion.batch.target_lengths.sum()) for portion in portions)
    loss = gradients(
        model, portions, config.label_smoothing, tokens, agreement=config.agreement, room=room, replica=replica,
        autocast=autocast, warn=warn,
    )  # fmt: skip
    norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip or math.inf))
    outcome = Outcome(loss, norm, tokens)
    if outcome.finite:
        optimizer.step()
    return outcome


def gradients(
    model: Seq2Seq,
    portions: Sequence[Portion],
    smoothing: float,
    tokens: int,
    *,
    agreement: float = 0.0,
    room: Room,
    replica: Replica = ALONE,
    autocast: torch.dtype | None,
    warn: Callable[[str], None],
) -> float:
    """Fill the gradients of the mean objective over `tokens`, so that any number of portions equals one large batch.

    So does any number of workers, whose `tokens` count the portions of all. Returned is the mean log loss.
    """
    device = next(model.parameters()).device
    while True:
        model.zero_grad(set_to_none=True)
        total = torch.zeros((), device=device)
        too_large = None
        parts = [part for whole in portions for part in room.divide(whole)]
        for number, portion in enumerate(parts, start=1):
            last = number == len(parts)
            try:
                with replica.adding(last):
                    with torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
                        batch = portion.batch.to(device)
                        losses = replica(
                            partial(
                                batch_loss, model, batch, smoothing=smoothing, forced=portion.coins,
                                scale=replica.size / tokens if portion.counts else 0.0,  # workers take their mean
                                places=real_places(portion.batch.target_out).to(device), agreement=agreement,
                            )
                        )  # fmt: skip
                    torch.autograd.backward(losses.objective)
                if portion.counts:
                    total += losses.log_loss
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                if last and replica.size > 1:
                    raise OutOfMemory(_too_late(portion.batch)) from error
                too_large = portion.batch
                break
        if too_large is None:
            return replica.world.total(float(total)) / tokens
        # Outside of `except`, whose traceback holds on to the tensors of the failed attempt.
        warn(room.shrink(too_large))
        if device.type == "cuda":
            release_memory()


def _too_late(batch: Batch) -> str:
    """The other workers may have heard a part of this one's gradients: the step cannot be tried again in halves."""
    return (
        f"out of memory with {batch.rows} sentences of {batch.source.size(1)} + {batch.target_out.size(1)} pieces "
        "while workers wait for each other: go on with --resume and more workers, whose shares are smaller, or start "
        "anew with a smaller batch"
    )


def is_out_of_memory(error: RuntimeError) -> bool:
    """A GPU has an error of its own for it, main memory only a sentence."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
