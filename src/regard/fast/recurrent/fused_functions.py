"""The recurrences in Triton kernels as autograd functions: decoder and encoder layer, replayed from CUDA graphs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.fast.first_order import first_order_only
from regard.fast.graphs.replay import Replay
from regard.fast.precision import working_dtype
from regard.fast.recurrent import bahdanau_launch as decoder
from regard.fast.recurrent import encoder_launch as encoder

_decoding = Replay(decoder.forward, decoder.backward)
_encoding = Replay(encoder.forward, encoder.backward)


def attend_and_recur_kernels(
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
    """`bahdanau_cpu.attend_and_recur` in kernels; weights and an LSTM's cells are float32."""
    dtype = working_dtype(gates)
    gates, hidden, keys, values, W_s, v, W_c, U, b_u = (
        x.to(dtype).contiguous() for x in (gates, hidden, keys, values, W_s, v, W_c, U, b_u)
    )
    cell, both = None if cell is None else cell.float(), torch.cat([W_s, U])
    states, contexts, weights = DecoderRecurrence.apply(  # type: ignore[no-untyped-call]
        gates, hidden, cell, keys, values, mask.contiguous(), both, b_u, v, W_c
    )
    return states, contexts.transpose(0, 1), weights.transpose(0, 1)


class DecoderRecurrence(torch.autograd.Function):
    """`bahdanau_launch.forward`, with its arguments in the same order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor | None) -> tuple[Tensor, ...]:
        return _forward(ctx, _decoding, given)

    @staticmethod
    @first_order_only
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_gates, d_hidden, d_cell, d_keys, d_values, *weights = _backward(ctx, _decoding, outside)
        return d_gates, d_hidden, d_cell if ctx.needs_input_grad[2] else None, d_keys, d_values, None, *weights


class FusedEncoderLayer(torch.autograd.Function):
    """`encoder_launch.forward`, with its arguments in the same order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        return _forward(ctx, _encoding, given)

    @staticmethod
    @first_order_only
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_given, d_recurrent, d_bias = _backward(ctx, _encoding, outside)
        return d_given, None, d_recurrent, d_bias


@contextmanager
def _on_its_device(given: Sequence[Tensor | None]) -> Iterator[None]:
    """Makes the tensors' device current, for Triton and graphs; autocast is off: the inputs are already cast."""
    with torch.cuda.device_of(given[0]), torch.autocast("cuda", enabled=False):  # type: ignore[no-untyped-call]
        yield


def _forward(ctx: Any, replay: Replay, given: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
    with _on_its_device(given):
        results, kept, ctx.ticket = replay.forward(*given)
    ctx.inputs = len(given)
    ctx.save_for_backward(*given, *kept)
    return results


def _backward(ctx: Any, replay: Replay, outside: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    saved = ctx.saved_tensors  # read once: torch.utils.checkpoint returns each saved tensor once
    given, kept = saved[: ctx.inputs], saved[ctx.inputs :]
    with _on_its_device(given):
        return replay.backward(ctx.ticket, outside, given, kept)
