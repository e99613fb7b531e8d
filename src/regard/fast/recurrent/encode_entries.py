"""Accelerated versions of `encode`: Triton kernels, a padded LSTM, packed layers with hand-written gradients."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.masking import padding_mask
from regard.fast.conditions import unlike_torch
from regard.fast.precision import fusible, linear, working_dtype
from regard.fast.recurrent.encoder_packed import run_packed
from regard.fast.recurrent.encoder_padded import run_padded
from regard.fast.recurrent.fused_functions import FusedEncoderLayer
from regard.models.rnn.cells import PARAMETERS
from regard.models.rnn.encoder import Encoded, RecurrentEncoder, encode
from regard.registry import Refusal, replaces

FULL, HALF_FULL, FEW_UNITS = 0.9, 0.5, 256
"""The share of real words from which an LSTM on a CPU is faster padded than packed, and that share in half precision
with few units, where the small operations of a packed step cost more than products with padding (docs/log.md)."""


def _bypassed(encoder: RecurrentEncoder, *_: Tensor) -> tuple[nn.Module]:
    return (encoder.recurrence,)


def _unfit_for_kernels(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Refusal:
    if not fusible(embedded):
        return "Triton kernels do not run on this device or in this dtype"
    return unlike_torch(encoder.recurrence) if embedded.numel() else "the batch is empty"


@replaces(encode, unless=_unfit_for_kernels, bypasses=_bypassed, compiles=True)
def encode_kernels(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Encoded:
    """Layer by layer in Triton kernels, which skip padding and need no lengths on the host."""
    recurrence, ways = encoder.recurrence, ("", "_reverse")[: encoder.directions]
    real = padding_mask(lengths, embedded.size(1))
    states = torch.where(real[..., None], embedded, 0.0)  # zero gradients times NaN would be NaN
    hidden, cell = [], []
    for layer in range(recurrence.num_layers):
        if layer:
            states = functional.dropout(states, recurrence.dropout, encoder.training)
        W, U, b, b_u = (
            torch.stack([getattr(recurrence, f"{name}_l{layer}{way}") for way in ways]) for name in PARAMETERS
        )
        given = linear(states, W.flatten(0, 1), b.flatten())
        given = given.view(*given.shape[:2], encoder.directions, -1)
        states, last, cells = FusedEncoderLayer.apply(  # type: ignore[no-untyped-call]
            given, real, U.to(given.dtype), b_u.to(given.dtype)
        )
        hidden.append(last)
        cell.extend(cells)  # empty for a GRU
    return Encoded(states, real, torch.stack(hidden), torch.stack(cell) if cell else None)


def _unfit_on_cpu(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Refusal:
    if embedded.device.type != "cpu" or not torch.is_grad_enabled():
        return "gains only where gradients are computed on a CPU"
    return unlike_torch(encoder.recurrence)


def _unfit_padded(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Refusal:
    if not (isinstance(encoder.recurrence, nn.LSTM) and embedded.numel()):
        return "not an LSTM over at least one word"
    dtype = working_dtype(embedded)
    if dtype == torch.float16:
        return "oneDNN has no float16 LSTM"
    if reason := _unfit_on_cpu(encoder, embedded, lengths):
        return reason
    small = dtype.itemsize == 2 and encoder.recurrence.hidden_size <= FEW_UNITS
    least = (HALF_FULL if small else FULL) * embedded.size(0) * embedded.size(1)
    return None if int(lengths.sum()) >= least else "too much padding"


@replaces(encode, unless=_unfit_padded, bypasses=_bypassed)
def encode_padded(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Encoded:
    """An LSTM over padded sentences: oneDNN's kernel computes the padding too, and is still faster."""
    assert isinstance(encoder.recurrence, nn.LSTM)
    real = padding_mask(lengths, embedded.size(1))
    states, hidden, cell = run_padded(encoder.recurrence, embedded, lengths, real)
    return Encoded(states, real, encoder.by_direction(hidden), encoder.by_direction(cell))


@replaces(encode, unless=_unfit_on_cpu, bypasses=_bypassed)
def encode_packed(encoder: RecurrentEncoder, embedded: Tensor, lengths: Tensor) -> Encoded:
    """As the plain version, on packed sentences, with hand-written gradients."""
    assert isinstance(encoder.recurrence, nn.GRU | nn.LSTM)
    longest = embedded.size(1)
    if longest == 0:
        embedded = functional.pad(embedded, (0, 0, 0, 1))
    packed = pack_padded_sequence(embedded, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
    outputs, final = run_packed(encoder.recurrence, packed)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=max(longest, 1))
    ended, blank = list(final) if isinstance(final, tuple) else [final], (lengths == 0)[:, None]
    if bool(blank.any()):
        ended = [torch.where(blank, 0.0, one) for one in ended]
    hidden, *cell = (encoder.by_direction(one) for one in ended)
    return Encoded(states[:, :longest], padding_mask(lengths, longest), hidden, cell[0] if cell else None)
