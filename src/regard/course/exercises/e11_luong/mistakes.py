"""Exercise 11: wrong scores and steps that people write."""

# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

import torch
from torch import Tensor, nn

Score = Callable[[Tensor, Tensor], Tensor]
Step = tuple[Tensor, Tensor, Tensor]


def _look(score: Score, query: Tensor, states: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor]:
    scores = score(query, states)
    weights = torch.softmax(scores if real is None else scores.masked_fill(~real, float("-inf")), dim=-1)
    return (weights[..., None] * states).sum(dim=1), weights


def previous_state(
    score: Score, cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor, real: Tensor, W_c: Tensor
) -> Step:
    context, weights = _look(score, before, states, real)
    after = cell(word, before)
    return torch.tanh(torch.cat([context, after], dim=-1) @ W_c.T), after, weights


def previous_state_everywhere(
    score: Score, cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor, real: Tensor, W_c: Tensor
) -> Step:
    context, weights = _look(score, before, states, real)
    return torch.tanh(torch.cat([context, before], dim=-1) @ W_c.T), cell(word, before), weights
