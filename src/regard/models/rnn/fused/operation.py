"""The fused recurrences for autograd: decoder and encoder layer, replayed from CUDA graphs on a GPU."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from regard.attention.once import once
from regard.models.rnn.fused import decoder, encoder
from regard.models.rnn.fused.replay import Replay

_decoding = Replay(decoder.forward, decoder.backward)
_reading = Replay(encoder.forward, encoder.backward)


class Recurrence(torch.autograd.Function):
    """See `decoder.forward`; the arguments in its order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor | None) -> tuple[Tensor, ...]:
        return _forward(ctx, _decoding, given)

    @staticmethod
    @once
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_gates, d_hidden, d_cell, d_keys, d_values, *weights = _backward(ctx, _decoding, outside)
        return d_gates, d_hidden, d_cell if ctx.needs_input_grad[2] else None, d_keys, d_values, None, *weights


class Reading(torch.autograd.Function):
    """See `encoder.forward`; the arguments in its order."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
        return _forward(ctx, _reading, given)

    @staticmethod
    @once
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_given, d_recurrent, d_bias = _backward(ctx, _reading, outside)
        return d_given, None, d_recurrent, d_bias


@contextmanager
def _on_its_device(given: Sequence[Tensor | None]) -> Iterator[None]:
    """Triton and graphs launch on the current device, wherever the tensors are; precision is settled by now."""
    with torch.cuda.device_of(given[0]), torch.autocast("cuda", enabled=False):  # type: ignore[no-untyped-call]
        yield


def _forward(ctx: Any, replay: Replay, given: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
    with _on_its_device(given):
        results, kept, ctx.ticket = replay.forward(*given)
    ctx.inputs = len(given)
    ctx.save_for_backward(*given, *kept)
    return results


def _backward(ctx: Any, replay: Replay, outside: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    saved = ctx.saved_tensors  # once: a checkpoint hands each out once
    given, kept = saved[: ctx.inputs], saved[ctx.inputs :]
    with _on_its_device(given):
        return replay.backward(ctx.ticket, outside, given, kept)
