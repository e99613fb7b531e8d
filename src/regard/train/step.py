"""One optimizer step: gradients over one or several batches, and what to do when memory runs out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.optim import Optimizer

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.train.config import TrainConfig
from regard.train.loss import batch_loss


class OutOfMemory(RuntimeError):
    """Not even a single sentence fits."""


@dataclass(frozen=True)
class Portion:
    """A batch, in main memory, and which of its decoder steps read the true word (None: all)."""

    batch: Batch
    forced: Bool[Tensor, " target"] | None = None

    def halves(self) -> tuple["Portion", "Portion"]:
        """The same work in two parts: the coins of the batch hold for both."""
        first, second = self.batch.halves()
        return self._with(first), self._with(second)

    def _with(self, batch: Batch) -> "Portion":
        return Portion(batch, None if self.forced is None else self.forced[: batch.target_in.size(1)])


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
    autocast: torch.dtype | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Outcome:
    """Accumulate, clip, update; an update that is not finite is left out."""
    tokens = sum(int(portion.batch.target_lengths.sum()) for portion in portions)
    loss = gradients(model, portions, config.label_smoothing, tokens, room=room, autocast=autocast, warn=warn)
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
    room: Room,
    autocast: torch.dtype | None,
    warn: Callable[[str], None],
) -> float:
    """Fill the gradients of the mean objective over `tokens`, so that any number of portions equals one large batch.

    Returned is the mean log loss.
    """
    device = next(model.parameters()).device
    while True:
        model.zero_grad(set_to_none=True)
        total = torch.zeros((), device=device)
        too_large = None
        for portion in [part for whole in portions for part in room.divide(whole)]:
            try:
                with torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
                    batch = portion.batch.to(device)
                    losses = batch_loss(model, batch, smoothing=smoothing, forced=portion.forced)
                torch.autograd.backward(losses.objective / tokens)
                total += losses.log_loss
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                too_large = portion.batch
                break
        if too_large is None:
            return float(total) / tokens
        # Outside of `except`, whose traceback holds on to the tensors of the failed attempt.
        warn(room.shrink(too_large))
        if device.type == "cuda":
            torch.cuda.empty_cache()


def is_out_of_memory(error: RuntimeError) -> bool:
    """A GPU has an error of its own for it, main memory only a sentence."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
