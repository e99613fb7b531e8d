"""What every mechanism does once its scores are known: mask, softmax, fade, mix the values."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.masking import masked_softmax
from regard.attention.protocol import Attended, Attention, Memory, Trace, View
from regard.registry import replaceable


def attend(
    scores: Float[Tensor, "*batch target source"],
    values: Float[Tensor, "*#batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
    *,
    weights: Float[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights: `c_t = sum_s a_t(s) h_s` with `a_t = softmax(scores)`, faded by a Gaussian if there is one.

    Given `weights` replace the computed ones. Dropout acts on the mixing only; the weights are returned without it.
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
    query: Float[Tensor, "batch target query"],
    scores: Float[Tensor, "batch 1 target source"],
    memory: Memory,
    view: View,
    *,
    weights: Float[Tensor, "batch head target source"] | None,
    trace: bool,
    dropout: float,
) -> Attended:
    """The single-head mechanisms' last step: attend over the memory's values and keep the trace if requested."""
    context, weights = attend(
        scores, memory.values[:, None], view.mask, view.gaussian, weights=weights, dropout=dropout
    )
    kept = Trace(query, scores, view.mask, view.gaussian, view.center) if trace else None
    return Attended(context[:, 0], weights, kept)


def real_states(
    states: Float[Tensor, "batch source state"], real: Bool[Tensor, "batch source"]
) -> Float[Tensor, "batch source state"]:
    """The states with zeros at padding, so that no padding value, not even NaN, reaches a product."""
    return torch.where(real[..., None], states, 0.0)


@replaceable
def look(
    attention: Attention,
    query: Float[Tensor, "rows target query"],
    memory: Memory,
    position: int = 0,
    *,
    weights: Float[Tensor, "rows head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """`attention(query, memory, position)`: how a decoder calls its attention."""
    return attention(query, memory, position, weights=weights, trace=trace)


@replaceable
def select_sentences(memories: tuple[Memory, ...], rows: Int[Tensor, " rows"]) -> tuple[Memory, ...]:
    """`memory.select(rows)` for each layer's memory of the source: how beam search reorders and repeats sentences."""
    return tuple(memory.select(rows) for memory in memories)


def check_query(name: str, query: Float[Tensor, "batch target query"], memory: Memory, query_width: int) -> None:
    """Raise if the query has the wrong width or another batch size than the memory."""
    if query.shape[-1] != query_width:
        raise ValueError(f"{name}: the query is {query.shape[-1]} wide, but query_width is {query_width}")
    if query.shape[0] != memory.real.shape[0]:
        raise ValueError(
            f"{name}: {query.shape[0]} queries meet a memory of {memory.real.shape[0]} sentences; "
            "memory.select(rows) repeats or reorders its rows"
        )
