"""Exercise 17: repairs that make the translator stammer."""

import torch
from torch import Tensor

Seen = tuple[Tensor, Tensor]


def _mix(weights: Tensor, states: Tensor) -> Seen:
    return (weights[..., None] * states).sum(dim=1), weights


def _scores(query: Tensor, states: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Tensor:
    scores: Tensor = torch.tanh((query @ W_s.T)[:, None] + states @ W_h.T) @ v
    return scores


def uniform(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    weights = real.to(states.dtype)
    return _mix(weights / weights.sum(dim=1, keepdim=True), states)


def uniform_with_padding(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    weights = torch.ones_like(states[..., 0])
    return _mix(weights / weights.shape[1], states)


def uniform_context(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    """The weights are right; the context is a plain mean all the same."""
    weights = torch.softmax(_scores(query, states, W_s, W_h, v).masked_fill(~real, float("-inf")), dim=-1)
    return uniform(query, states, real, W_s, W_h, v)[0], weights


def no_mask(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    return _mix(torch.softmax(_scores(query, states, W_s, W_h, v), dim=-1), states)


def inverted_mask(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    scores = _scores(query, states, W_s, W_h, v).masked_fill(real, float("-inf"))
    return _mix(torch.softmax(scores, dim=-1), states)


def no_tanh(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    scores = ((query @ W_s.T)[:, None] + states @ W_h.T) @ v
    return _mix(torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1), states)


def sharpest_only(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    scores = _scores(query, states, W_s, W_h, v).masked_fill(~real, float("-inf"))
    return _mix(torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[1]).to(states.dtype), states)


def multiplied(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> Seen:
    """A product of the two projections instead of their sum."""
    scores = ((query @ W_s.T)[:, None] * (states @ W_h.T)) @ v
    return _mix(torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1), states)
