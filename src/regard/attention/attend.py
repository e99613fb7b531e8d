"""What every mechanism does once its scores are known: mask, softmax, fade, mix the values."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.masking import masked_softmax
from regard.attention.protocol import Attended, Memory, Trace, View


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

    Given `weights` replace the computed ones. Dropout acts on the mixing only; the weights come back whole.
    """
    if weights is None:
        weights = masked_softmax(scores, mask)
        if gaussian is not None:
            weights = weights * gaussian
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
    """The single-head mechanisms' last step: attend over the memory's own states and keep the trace if asked."""
    context, weights = attend(
        scores, memory.values[:, None], view.mask, view.gaussian, weights=weights, dropout=dropout
    )
    kept = Trace(query, scores, view.mask, view.gaussian, view.center) if trace else None
    return Attended(context[:, 0], weights, kept)


def real_states(
    states: Float[Tensor, "batch source state"], real: Bool[Tensor, "batch source"]
) -> Float[Tensor, "batch source state"]:
    """The states with zeros where they are padding, so that whatever stood there (even NaN) reaches no product."""
    if real.device.type == "cpu" and not _transformed() and bool(real.all()):
        return states
    return torch.where(real[..., None], states, 0.0)


def _transformed() -> bool:
    """Within torch.compile, torch.func.vmap and the like a mask cannot be looked at."""
    return torch.compiler.is_compiling() or bool(torch._C._are_functorch_transforms_active())


def check_query(name: str, query: Float[Tensor, "batch target query"], memory: Memory, query_width: int) -> None:
    """Refuse a query of the wrong width, and one that belongs to another batch than the memory."""
    if query.shape[-1] != query_width:
        raise ValueError(f"{name}: the query is {query.shape[-1]} wide, but query_width is {query_width}")
    if query.shape[0] != memory.real.shape[0]:
        raise ValueError(
            f"{name}: {query.shape[0]} queries meet a memory of {memory.real.shape[0]} sentences; "
            "memory.select(rows) repeats or reorders its rows"
        )
