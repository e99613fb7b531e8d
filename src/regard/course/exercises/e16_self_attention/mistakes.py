"""Exercise 16: wrong heads, scales and masks that people write."""

import math

import torch
from torch import Tensor

from regard.course.exercises.e16_self_attention.solution import scaled_dot

Seen = tuple[Tensor, Tensor]


def _attend(scores: Tensor, values: Tensor, mask: Tensor) -> Seen:
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ values, weights


def not_scaled(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Seen:
    return _attend(query @ keys.mT, values, mask)


def scaled_without_root(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Seen:
    return _attend(query @ keys.mT / query.shape[-1], values, mask)


def _split(projected: Tensor, heads: int) -> Tensor:
    batch, length, width = projected.shape
    return projected.view(batch, length, heads, width // heads).transpose(1, 2)


def _merge(context: Tensor) -> Tensor:
    return context.transpose(1, 2).flatten(2)


def reshaped_into_heads(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    """Straight to [batch, head, length, part]; the way back is right."""

    def split(projected: Tensor) -> Tensor:
        batch, length, width = projected.shape
        return projected.reshape(batch, heads, length, width // heads)

    context, weights = scaled_dot(split(query @ W_q.T), split(states @ W_k.T), split(states @ W_v.T), mask)
    return _merge(context) @ W_o.T, weights


def reshaped_both_ways(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    def split(projected: Tensor) -> Tensor:
        batch, length, width = projected.shape
        return projected.reshape(batch, heads, length, width // heads)

    context, weights = scaled_dot(split(query @ W_q.T), split(states @ W_k.T), split(states @ W_v.T), mask)
    return context.reshape(*query.shape[:2], -1) @ W_o.T, weights


def merged_without_transpose(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    q, k, v = (_split(one, heads) for one in (query @ W_q.T, states @ W_k.T, states @ W_v.T))
    context, weights = scaled_dot(q, k, v, mask)
    return context.reshape(*query.shape[:2], -1) @ W_o.T, weights


def root_of_the_width(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    q, k, v = (_split(one, heads) for one in (query @ W_q.T, states @ W_k.T, states @ W_v.T))
    context, weights = _attend(q @ k.mT / math.sqrt(W_q.shape[0]), v, mask)
    return _merge(context) @ W_o.T, weights


def heads_not_scaled(
    query: Tensor, states: Tensor, mask: Tensor, heads: int, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor
) -> Seen:
    q, k, v = (_split(one, heads) for one in (query @ W_q.T, states @ W_k.T, states @ W_v.T))
    context, weights = _attend(q @ k.mT, v, mask)
    return _merge(context) @ W_o.T, weights
