"""Additive scores without kernels, in place where no gradient is needed."""

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.additive.functional import additive_scores
from regard.fast.cpu.quick_tanh import quick_tanh_
from regard.registry import Refusal, replaces


def _differentiated(query_projected: Tensor, keys: Tensor, v: Tensor) -> Refusal:
    return "gradients are computed" if torch.is_grad_enabled() else None


@replaces(additive_scores, unless=_differentiated)
def additive_scores_in_place(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """Scores whose tanh overwrites its argument."""
    return quick_tanh_(query_projected.unsqueeze(-2) + keys.unsqueeze(-3)) @ v
