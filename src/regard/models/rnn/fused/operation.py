"""The fused recurrences for autograd: decoder and encoder layer, replayed from CUDA graphs on a GPU."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.models.rnn.fused import decoder, encoder
from regard.models.rnn.fused.precision import working_dtype
from regard.models.rnn.fused.replay import Replay

_decoding = Replay(decoder.forward, decoder.backward)
_reading = Replay(encoder.forward, encoder.backward)


def fused_attend_and_recur(
    gates: Float[Tensor, "target batch gates"],
    hidden: Float[Tensor, "batch units"],
    cell: Float[Tensor, "batch units"] | None,
    keys: Float[Tensor, "batch source width"],
    values: Float[Tensor, "batch source value"],
    mask: Bool[Tensor, "batch source"],
    W_s: Float[Tensor, "width units"],
    v: Float[Tensor, " width"],
    W_c: Float[Tensor, "gates value"],
    U: Float[Tensor, "gates units"],
    b_u: Float[Tensor, " gates"],
) -> tuple[
    Float[Tensor, "target batch units"], Float[Tensor, "target batch value"], Float[Tensor, "target batch source"]
]:
    """What `recurrence.attend_and_recur` computes, in the precision of products; the weights are float32."""
    dtype = working_dtype(gates)
    gates, hidden, keys, values, both, b_u, v, W_c = (
        x.to(dtype).contiguous() for x in (gates, hidden, keys, values, torch.cat([W_s, U]), b_u, v, W_c)
    )
    states, contexts, weights = Recurrence.apply(  # type: ignore[no-untyped-call]
        gates, hidden, None if cell is None else cell.float(), keys, values, mask.contiguous(), both, b_u, v, W_c
    )
    return states, contexts.transpose(0, 1), weights.transpose(0, 1)


class Recurrence(torch.autograd.Function):
    """See `decoder.forward`; the arguments in its order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor | None) -> tuple[Tensor, ...]:
        return _forward(ctx, _decoding, given)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_gates, d_hidden, d_cell, d_keys, d_values, *weights = _backward(ctx, _decoding, outside)
        return d_gates, d_hidden, d_cell if ctx.needs_input_grad[2] else None, d_keys, d_values, None, *weights


class Reading(torch.autograd.Function):
    """See `encoder.forward`; the arguments in its order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        return _forward(ctx, _reading, given)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_given, d_recurrent, d_bias = _backward(ctx, _reading, outside)
        return d_given, None, d_recurrent, d_bias


def _forward(ctx: Any, replay: Replay, given: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
    with torch.autocast("cuda", enabled=False):
        results, kept, ctx.ticket = replay.forward(*given)
    ctx.inputs = len(given)
    ctx.save_for_backward(*given, *kept)
    return results


def _backward(ctx: Any, replay: Replay, outside: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    given, kept = ctx.saved_tensors[: ctx.inputs], ctx.saved_tensors[ctx.inputs :]
    with torch.autocast("cuda", enabled=False):
        return replay.backward(ctx.ticket, outside, given, kept)
