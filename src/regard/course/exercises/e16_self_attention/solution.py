"""16 · Scaled dot, multi-head and causal attention: a solution."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def causal_mask(size: int) -> Bool[Tensor, "{size} {size}"]:
    """True where step t (row) may see position s (column): its own and all before."""
    return torch.ones(size, size, dtype=torch.bool).tril()


def scaled_dot(
    query: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "target source"],
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights of every query at once."""
    scores = query @ keys.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ values, weights


def multi_head(
    query: Float[Tensor, "batch target query"],
    states: Float[Tensor, "batch source state"],
    mask: Bool[Tensor, "target source"],
    heads: int,
    W_q: Float[Tensor, "width query"],
    W_k: Float[Tensor, "width state"],
    W_v: Float[Tensor, "width state"],
    W_o: Float[Tensor, "out width"],
) -> tuple[Float[Tensor, "batch target out"], Float[Tensor, "batch head target source"]]:
    """Project, cut into heads, attend in each head, put the heads side by side, project again."""

    def split(projected: Tensor) -> Tensor:
        batch, length, width = projected.shape
        return projected.view(batch, length, heads, width // heads).transpose(1, 2)

    context, weights = scaled_dot(split(query @ W_q.T), split(states @ W_k.T), split(states @ W_v.T), mask)
    return context.transpose(1, 2).reshape(*query.shape[:2], -1) @ W_o.T, weights
