"""Exercise 16: other correct ways."""

import torch
from torch import Tensor

Seen = tuple[Tensor, Tensor]


def mask_by_comparing(size: int) -> Tensor:
    places = torch.arange(size)
    return places[None, :] <= places[:, None]


def mask_by_triangle(size: int) -> Tensor:
    return ~torch.triu(torch.ones(size, size), diagonal=1).bool()


def scaled_first(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Seen:
    """The query is divided before the product."""
    scores = torch.einsum("...td,...sd->...ts", query * query.shape[-1] ** -0.5, keys)
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, values), weights


def head_by_head(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    """Each head with its own rows of the matrices."""
    parts = [scaled_first(query @ q.T, states @ k.T, states @ v.T, mask) for q, k, v in _rows(heads, W_q, W_k, W_v)]
    return torch.cat([context for context, _ in parts], dim=-1) @ W_o.T, torch.stack([one for _, one in parts], dim=1)


def one_einsum(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    q, k, v = (W.view(heads, -1, W.shape[1]) for W in (W_q, W_k, W_v))
    scores = torch.einsum("btq,hpq,hpe,bse->bhts", query, q, k, states) / q.shape[1] ** 0.5
    weights = scores.masked_fill(mask.logical_not(), -torch.inf).softmax(-1)
    context = torch.einsum("bhts,hpe,bse->bthp", weights, v, states).flatten(2)
    return context @ W_o.T, weights


def _rows(heads: int, *matrices: Tensor) -> list[tuple[Tensor, ...]]:
    return list(zip(*(matrix.chunk(heads) for matrix in matrices), strict=True))
