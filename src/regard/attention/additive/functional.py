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
    return torch.tanh(query_projected.unsqueeze(-2) + keys.unsqueeze(-3)) @ v


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
