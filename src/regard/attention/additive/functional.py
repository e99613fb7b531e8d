"""Additive attention in differentiable torch: the CPU path, and the twin of a fused kernel."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.attend import attend


def additive_scores(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = v · tanh(W_s s_t + W_h h_s)`, both projections already done."""
    energy = query_projected.unsqueeze(-2) + keys.unsqueeze(-3)
    # A step that nobody differentiates may overwrite what it has.
    return (torch.tanh(energy) if torch.is_grad_enabled() else quick_tanh_(energy)) @ v


def quick_tanh_(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """tanh x = 2σ(2x) - 1, in place: torch's CPU sigmoid is vectorised, its tanh is six times slower (docs/log.md)."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1) if x.device.type == "cpu" else x.tanh_()


def additive_attention(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights of additive attention over projected queries and keys."""
    return attend(additive_scores(query_projected, keys, v), values, mask, gaussian)
