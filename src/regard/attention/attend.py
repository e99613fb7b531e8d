"""Shared by all mechanisms: parameters, from scores to context (mask, softmax, weighted sum), checks of inputs."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.masking import masked_softmax
from regard.attention.protocol import Attended, Memory, Query, States, Trace, View, Weights
from regard.registry import replaceable


def parameter(*shape: int) -> nn.Parameter:
    """A matrix `[out, in]` or a vector `[in]`, drawn uniformly from ±1/√in."""
    bound = shape[-1] ** -0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


def attend(
    scores: Float[Tensor, "*batch target source"],
    values: Float[Tensor, "*#batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
    *,
    weights: Float[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights: `c_t = sum_s a_ts h_s` with `a_t = softmax(e_t)`, times a Gaussian if there is one.

    `weights`, if given, replace the computed ones. Dropout acts on the sum only; the weights are returned without it.
    """
    if weights is None:
        weights = masked_softmax(scores, mask)
        if gaussian is not None:
            weights = weights * gaussian.to(weights.dtype)
    elif weights.shape != scores.shape:
        raise ValueError(
            f"attention: the given weights have shape {list(weights.shape)}, "
            f"but [batch, head, target, source] is {list(scores.shape)} here"
        )
    mixing = torch.dropout(weights, dropout, True) if dropout else weights
    return mixing @ values, weights


def attend_single(
    query: Query,
    scores: Float[Tensor, "batch 1 target source"],
    memory: Memory,
    view: View,
    *,
    weights: Weights | None,
    trace: bool,
    dropout: float,
) -> Attended:
    """The single-head mechanisms' last step: attend over the memory's values and keep the trace if requested."""
    context, weights = attend(
        scores, memory.values[:, None], view.mask, view.gaussian, weights=weights, dropout=dropout
    )
    kept = Trace(query, scores, view.mask, view.gaussian, view.center, context[:, 0]) if trace else None
    return Attended(context[:, 0], weights, kept)


@replaceable
def select_sentences(memories: tuple[Memory, ...], rows: Int[Tensor, " rows"]) -> tuple[Memory, ...]:
    """`memory.select(rows)` for each layer's memory of the source: how beam search reorders and repeats sentences."""
    return tuple(memory.select(rows) for memory in memories)


def real_states(name: str, states: Any, real: Any, state_width: int) -> States:
    """The states with zeros at padding, so that no padding value, not even NaN, reaches a product.

    Raises unless states are `[batch, source, state_width]` and `real` is a bool mask `[batch, source]`.
    """
    _check_tensor(name, "states", states, "[batch, source, state]")
    if states.shape[-1] != state_width:
        raise ValueError(f"{name}: the states are {states.shape[-1]} wide, but state_width is {state_width}")
    _check_tensor(name, "real", real, "[batch, source]")
    if real.shape != states.shape[:2]:
        raise ValueError(
            f"{name}: real has shape {list(real.shape)}, but the states {list(states.shape)} need a mask "
            f"[batch, source] {list(states.shape[:2])}"
        )
    if real.dtype != torch.bool:
        raise TypeError(
            f"{name}: real is {real.dtype}, but a mask is torch.bool, True at real positions: "
            "real.bool(), or lengths_to_mask(lengths) from sentence lengths"
        )
    return torch.where(real[..., None], states, 0.0)


def check_query(name: str, query: Any, memory: Any, query_width: int, key_shape: tuple[int, ...]) -> None:
    """Raise if the query does not fit the mechanism or the memory; `key_shape` is (width,) or (heads, width)."""
    _check_tensor(name, "query", query, "[batch, target, query]")
    if query.shape[-1] != query_width:
        raise ValueError(f"{name}: the query is {query.shape[-1]} wide, but query_width is {query_width}")
    if not isinstance(memory, Memory):
        raise TypeError(
            f"{name}: the memory is a {type(memory).__name__}, expected the Memory that prepare(states, real) returns"
        )
    keys = memory.keys.shape
    if (*keys[1:-2], keys[-1]) != key_shape:
        head = "head, " if len(key_shape) == 2 else ""
        raise ValueError(
            f"{name}: the memory's keys have shape {list(keys)}, expected [batch, {head}source, width] with "
            f"{'head and width' if head else 'width'} {', '.join(map(str, key_shape))}: "
            "take the memory from this module's own prepare(states, real)"
        )
    if query.shape[0] != memory.real.shape[0]:
        raise ValueError(
            f"{name}: a batch of {query.shape[0]} queries for a memory of {memory.real.shape[0]} sentences; "
            "memory.select(rows) repeats or reorders its rows"
        )


def _check_tensor(name: str, argument: str, given: Any, wanted: str) -> None:
    """Raise unless `given` is a tensor with the axes of `wanted`."""
    if not isinstance(given, Tensor):
        raise TypeError(f"{name}: {argument} is a {type(given).__name__}, expected a tensor {wanted}")
    if given.dim() != wanted.count(",") + 1:
        remedy = "; one step is query[:, None]" if argument == "query" and given.dim() == 2 else ""
        raise ValueError(f"{name}: {argument} has shape {list(given.shape)}, expected {wanted}{remedy}")
