"""Exercise 11: other correct ways."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from torch import Tensor, nn


def dot_in_einsum(query: Tensor, states: Tensor) -> Tensor:
    return torch.einsum("bd,bsd->bs", query, states)


def general_projects_the_states(query: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    """As the package does: the keys W_a h are ready before the first step."""
    return torch.bmm(states @ W_a.T, query.unsqueeze(2)).squeeze(2)


def general_as_bilinear(query: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    return torch.einsum("bq,qd,bsd->bs", query, W_a, states)


def concat_in_two_products(query: Tensor, states: Tensor, W_a: Tensor, v: Tensor) -> Tensor:
    """W_a [s; h] = W_s s + W_h h: Bahdanau's score."""
    W_s, W_h = W_a[:, : query.shape[1]], W_a[:, query.shape[1] :]
    return torch.tanh((query @ W_s.T).unsqueeze(1) + states @ W_h.T) @ v


def step_with_products(
    score: Callable[[Tensor, Tensor], Tensor],
    cell: nn.GRUCell,
    word: Tensor,
    before: Tensor,
    states: Tensor,
    real: Tensor,
    W_c: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    after = cell(word, before)
    scores = score(after, states)
    weights = torch.where(real, scores, torch.finfo(scores.dtype).min).softmax(dim=1)
    context = (weights.unsqueeze(1) @ states).squeeze(1)
    return nn.functional.linear(torch.hstack((context, after)), W_c).tanh(), after, weights
