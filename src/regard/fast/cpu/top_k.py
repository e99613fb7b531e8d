"""Top-k over a vocabulary on the CPU by blocks, because torch's `topk` is slow there."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.registry import Refusal, replaces
from regard.search.scoring import top

BLOCK = 64
"""Neighbours in the vocabulary whose maximum is compared first."""


def _unfit(scores: Tensor, count: int) -> Refusal:
    if scores.device.type != "cpu":
        return "only for a CPU"
    return None if scores.shape[1] // BLOCK >= 4 * count else "too few blocks of the vocabulary for so many"


@replaces(top, unless=_unfit)
def top_by_blocks(
    scores: Float[Tensor, "rows vocabulary"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """The highest `count` lie in the `count` blocks of highest maximum, or behind the last whole block."""
    blocks = scores.shape[1] // BLOCK
    whole = blocks * BLOCK
    parts = scores[:, :whole].view(len(scores), blocks, BLOCK)
    block = _highest(parts.amax(dim=2), count)[1]
    near = parts.gather(1, block[:, :, None].expand(-1, -1, BLOCK)).flatten(1)
    rest = scores.shape[1] - whole
    values, place = _highest(torch.cat([near, scores[:, whole:]], dim=1) if rest else near, count)
    inside = block.gather(1, (place // BLOCK).clamp_(max=count - 1)).mul_(BLOCK).add_(place % BLOCK)
    return values, torch.where(place < count * BLOCK, inside, place - count * BLOCK + whole) if rest else inside


def _highest(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`topk`; a single one is the first of equal values, which `topk` does not promise."""
    values, places = numbers.max(dim=1, keepdim=True) if count == 1 else numbers.topk(count, dim=1)
    return values, places
