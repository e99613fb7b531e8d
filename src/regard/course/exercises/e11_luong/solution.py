"""11 · Luong's three scores and his step: a solution."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def dot_score(
    query: Float[Tensor, "batch width"], states: Float[Tensor, "batch source width"]
) -> Float[Tensor, "batch source"]:
    """The product of the query with every state."""
    return (query[:, None] * states).sum(dim=-1)


def general_score(
    query: Float[Tensor, "batch query"], states: Float[Tensor, "batch source state"], W_a: Float[Tensor, "query state"]
) -> Float[Tensor, "batch source"]:
    """A matrix between the two: their widths may differ."""
    return dot_score(query @ W_a, states)


def concat_score(
    query: Float[Tensor, "batch query"],
    states: Float[Tensor, "batch source state"],
    W_a: Float[Tensor, "width query_and_state"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "batch source"]:
    """Query and state side by side, query first."""
    repeated = query[:, None].expand(-1, states.shape[1], -1)
    return torch.tanh(torch.cat([repeated, states], dim=-1) @ W_a.T) @ v


def luong_step(
    score: Callable[[Tensor, Tensor], Tensor],
    cell: nn.GRUCell,
    word: Float[Tensor, "batch word"],
    before: Float[Tensor, "batch hidden"],
    states: Float[Tensor, "batch source state"],
    real: Bool[Tensor, "batch source"],
    W_c: Float[Tensor, "vector state_and_hidden"],
) -> tuple[Float[Tensor, "batch vector"], Float[Tensor, "batch hidden"], Float[Tensor, "batch source"]]:
    """From s_{t-1} (`before`) and the word written last to the attentional vector, s_t and the weights."""
    after = cell(word, before)
    weights = torch.softmax(score(after, states).masked_fill(~real, float("-inf")), dim=-1)
    context = (weights[..., None] * states).sum(dim=1)
    return torch.tanh(torch.cat([context, after], dim=-1) @ W_c.T), after, weights
