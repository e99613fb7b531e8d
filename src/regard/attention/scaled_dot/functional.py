"""Scaled dot-product and multi-head attention in differentiable torch."""

import math

from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.attend import attend


def scaled_dot_scores(
    query: Float[Tensor, "*batch target width"], keys: Float[Tensor, "*batch source width"]
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = q_t · k_s / √width`."""
    return (query / math.sqrt(query.shape[-1])) @ keys.mT


def scaled_dot_attention(
    query: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights; multi-head attention is this with a head axis in front of the target axis."""
    return attend(scaled_dot_scores(query, keys), values, mask, gaussian)


def split_heads(
    projected: Float[Tensor, "batch length width"], heads: int
) -> Float[Tensor, "batch {heads} length width//{heads}"]:
    """`[batch, length, head · part]` → `[batch, head, length, part]`."""
    batch, length, width = projected.shape
    return projected.view(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(context: Float[Tensor, "batch head length part"]) -> Float[Tensor, "batch length head*part"]:
    """`[batch, head, length, part]` → `[batch, length, head · part]`, the heads side by side."""
    return context.transpose(1, 2).flatten(2)
