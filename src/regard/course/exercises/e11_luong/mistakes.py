"""Exercise 11: wrong scores and steps that people write."""

# mypy: disable-error-code="no-any-return"

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

Score = Callable[[Tensor, Tensor], Tensor]
Step = tuple[Tensor, Tensor, Tensor]


def scaled_dot(query: Tensor, states: Tensor) -> Tensor:
    return (query[:, None] * states).sum(dim=-1) / math.sqrt(query.shape[-1])


def general_without_matrix(query: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    return (query[:, None] * states).sum(dim=-1)


def general_transposed(query: Tensor, states: Tensor, W_a: Tensor) -> Tensor:
    return ((query @ W_a.T)[:, None] * states).sum(dim=-1)


def concat_backwards(query: Tensor, states: Tensor, W_a: Tensor, v: Tensor) -> Tensor:
    repeated = query[:, None].expand(-1, states.shape[1], -1)
    return torch.tanh(torch.cat([states, repeated], dim=-1) @ W_a.T) @ v


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


def readout_backwards(
    score: Score, cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor, real: Tensor, W_c: Tensor
) -> Step:
    after = cell(word, before)
    context, weights = _look(score, after, states, real)
    return torch.tanh(torch.cat([after, context], dim=-1) @ W_c.T), after, weights


def no_mask(
    score: Score, cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor, real: Tensor, W_c: Tensor
) -> Step:
    after = cell(word, before)
    context, weights = _look(score, after, states, None)
    return torch.tanh(torch.cat([context, after], dim=-1) @ W_c.T), after, weights


def inverted_mask(
    score: Score, cell: nn.GRUCell, word: Tensor, before: Tensor, states: Tensor, real: Tensor, W_c: Tensor
) -> Step:
    after = cell(word, before)
    context, weights = _look(score, after, states, ~real)
    return torch.tanh(torch.cat([context, after], dim=-1) @ W_c.T), after, weights
