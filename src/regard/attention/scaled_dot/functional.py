"""Scaled dot-product and multi-head attention in differentiable torch."""

import math

from jaxtyping import Float
from torch import Tensor


def scaled_dot_scores(
    query: Float[Tensor, "*batch target width"], keys: Float[Tensor, "*batch source width"]
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = q_t · k_s / √width`."""
    return (query / math.sqrt(query.shape[-1])) @ keys.mT


def split_heads(
    projected: Float[Tensor, "batch length width"], heads: int
) -> Float[Tensor, "batch {heads} length width//{heads}"]:
    """`[batch, length, head · part]` → `[batch, head, length, part]`."""
    batch, length, width = projected.shape
    return projected.view(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(context: Float[Tensor, "batch head length part"]) -> Float[Tensor, "batch length head*part"]:
    """`[batch, head, length, part]` → `[batch, length, head · part]`, the heads side by side."""
    return context.transpose(1, 2).flatten(2)
