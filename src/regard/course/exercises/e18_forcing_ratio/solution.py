"""18 · The teacher-forcing ratio: a solution."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

PAD, BOS = 0, 2


def mixed_forcing(
    step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    state: Float[Tensor, "batch hidden"],
    targets: Int[Tensor, "batch target"],
    coins: Bool[Tensor, "batch target"],
) -> Float[Tensor, "batch target vocabulary"]:
    """The logits of every step; where a coin is True the step reads the right word, elsewhere the decoder's own."""
    words = torch.full_like(targets[:, 0], BOS)
    steps: list[Tensor] = []
    for column in range(targets.shape[1]):
        if column > 0:
            own = steps[-1].argmax(dim=-1)
            words = torch.where(coins[:, column], targets[:, column - 1], own)
        logits, state = step(words, state)
        steps.append(logits)
    return torch.stack(steps, dim=1)


def ratio(update: int, updates: int, first: float, last: float) -> float:
    """A straight line from `first` to `last`; it stays at `last` after `updates` updates."""
    done = min(update / updates, 1.0)
    return first + done * (last - first)
