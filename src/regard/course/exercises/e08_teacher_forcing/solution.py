"""8 · Teacher forcing and the loss: a solution."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

PAD, BOS = 0, 2


def teacher_forcing(
    step: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    state: Float[Tensor, "batch hidden"],
    targets: Int[Tensor, "batch target"],
) -> Float[Tensor, "batch target vocabulary"]:
    """The logits of every step; each step reads the right word of the step before, the first one reads BOS."""
    words = torch.full_like(targets[:, 0], BOS)
    steps = []
    for column in range(targets.shape[1]):
        logits, state = step(words, state)
        steps.append(logits)
        words = targets[:, column]
    return torch.stack(steps, dim=1)


def loss(logits: Float[Tensor, "batch target vocabulary"], targets: Int[Tensor, "batch target"]) -> Float[Tensor, ""]:
    """Minus the mean log-probability of the right words; padding does not count."""
    right = torch.log_softmax(logits, dim=-1).gather(-1, targets[..., None]).squeeze(-1)
    real = targets != PAD
    return -right[real].sum() / real.sum()
