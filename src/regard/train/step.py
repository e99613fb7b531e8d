"""One optimizer step: gradients over one or several batches, and what to do when memory runs out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.train.config import TrainConfig
from regard.train.loss import batch_loss


@dataclass(frozen=True)
class Outcome:
    """Mean loss for each target word, the gradient's norm before clipping, and how many words there were."""

    loss: float
    gradient_norm: float
    tokens: int


class OutOfMemory(RuntimeError):
    """Not even a single sentence fits."""


def train_step(
    model: Seq2Seq,
    optimizer: Optimizer,
    batches: Sequence[Batch],
    config: TrainConfig,
    *,
    forced: Callable[[int], Tensor | None],
    autocast: torch.dtype | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Outcome:
    """Accumulate, clip, update. `forced(n)` draws which of n decoder steps read the true word.

    The loss is divided by the words of all batches together, so accumulation equals one large batch.
    """
    tokens = sum(int(batch.target_lengths.sum()) for batch in batches)
    loss = gradients(model, list(batches), config, tokens, forced=forced, autocast=autocast, warn=warn)
    limit = config.clip if config.clip is not None else float("inf")
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
    if torch.isfinite(norm):
        optimizer.step()
    return Outcome(loss, float(norm), tokens)


def gradients(
    model: Seq2Seq,
    batches: list[Batch],
    config: TrainConfig,
    tokens: int,
    *,
    forced: Callable[[int], Tensor | None],
    autocast: torch.dtype | None,
    warn: Callable[[str], None],
) -> float:
    """Fill the gradients; a batch that does not fit is split in two and everything starts again."""
    while True:
        model.zero_grad(set_to_none=True)
        total, position = 0.0, 0
        try:
            for position, batch in enumerate(batches):
                device = batch.source.device.type
                with torch.autocast(device, dtype=autocast, enabled=autocast is not None):
                    loss = batch_loss(
                        model, batch, smoothing=config.label_smoothing, forced=forced(batch.target_in.size(1))
                    )
                (loss / tokens).backward()
                total += float(loss.detach())
            return total / tokens
        except RuntimeError as error:
            if not _is_out_of_memory(error):
                raise
            batches = _split(batches, position, warn)


def _split(batches: list[Batch], position: int, warn: Callable[[str], None]) -> list[Batch]:
    batch = batches[position]
    rows, width = batch.source.shape
    if rows == 1:
        raise OutOfMemory(
            f"a single sentence pair of {width} source and {batch.target.size(1)} target pieces does not fit into memory: "
            "lower [text] longest_source and longest_target, or use a smaller model"
        )
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    warn(f"out of memory on a batch of {rows} × {width}: split in two and tried again; a smaller batch avoids this")
    return [*batches[:position], *batch.halves(), *batches[position + 1 :]]


def _is_out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
