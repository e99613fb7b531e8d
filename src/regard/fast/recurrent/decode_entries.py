"""The accelerated versions of the decoder's step loop `decode`, in order of preference.

- Bahdanau's recurrence as one operation: in Triton kernels, else in torch operations with hand-written gradients
- the loop of a decoder with an attention of this package, captured in CUDA graphs
- the loop of a decoder with torch's cells, with deferred weight gradients
"""

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from regard.attention.additive.module import BahdanauAttention
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Memory
from regard.attention.window import GlobalWindow
from regard.fast.conditions import is_known, unlike_torch
from regard.fast.graphs.captured_module import run_captured
from regard.fast.precision import fusible
from regard.fast.recurrent.bahdanau_cpu import attend_and_recur
from regard.fast.recurrent.fused_functions import attend_and_recur_kernels
from regard.fast.recurrent.step_loop import Layer, decoded_of, layers_of, run_steps
from regard.fast.recurrent.weight_swap import deferring_pays, run_with_weights
from regard.fast.recurrent.word_table import word_gates
from regard.models.rnn.decoder import RecurrentDecoder, decode
from regard.models.rnn.state import RecurrentState
from regard.models.step import Decoded
from regard.registry import Refusal, replaces

Given = tuple[Tensor | None, ...]
"""The arguments of `run_steps` after the decoder."""


def _unfit_one_operation(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Refusal:
    attention = decoder.attention
    # The exact type: a subclass may compute something else.
    if type(attention) is not BahdanauAttention or type(attention.window) is not GlobalWindow:
        return "not additive attention over the whole sentence"
    if not decoder.context_width or decoder.feed_width or len(state.hidden) != 1:
        return "not one layer with attention at its input and without input feeding"
    if attention.dropout and attention.training:
        return "attention weights are dropped"
    return _unfit_loop(decoder, tokens, state, own)


def _unfit_loop(decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()) -> Refusal:
    """Conditions of every entry: torch's cells, features of the new state, a function of tensors."""
    if type(decoder) is not RecurrentDecoder:
        return "a subclass of RecurrentDecoder may compute something else"
    if decoder.reads_previous:
        return "the readout reads the previous state"
    if reason := unlike_torch(decoder.recurrence):
        return reason
    if own:
        return "the decoder reads its own words"
    if type(state.memory) is not Memory:
        return "the memory is shared by rows of a sentence, or a mechanism's own class"
    return None if state.memory.keys.numel() else "the source is empty"


def _bypassed(decoder: RecurrentDecoder, *_: object) -> tuple[object, ...]:
    return decoder.attention, decoder.readout.combine


def _unfit_for_kernels(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Refusal:
    if not fusible(decoder.embedding.weight):
        return "Triton kernels do not run on this device or in this dtype"
    return _unfit_one_operation(decoder, tokens, state, own)


@replaces(decode, unless=_unfit_for_kernels, bypasses=_bypassed, compiles=True)
def decode_kernels(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Decoded:
    """Bahdanau's recurrence in Triton kernels, replayed from CUDA graphs."""
    return _one_operation(attend_and_recur_kernels, decoder, tokens, state)


@replaces(decode, unless=_unfit_one_operation, bypasses=_bypassed)
def decode_one_operation(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Decoded:
    """Bahdanau's recurrence in torch operations with a hand-written backward pass over all steps."""
    return _one_operation(attend_and_recur, decoder, tokens, state)


def _one_operation(
    run: Callable[..., tuple[Tensor, Tensor, Tensor]], decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState
) -> Decoded:
    attention = decoder.attention
    assert isinstance(attention, BahdanauAttention)
    (layer,), embedded = layers_of(decoder), decoder.embed(tokens.T)
    states, contexts, weights = run(
        _gates(decoder, tokens, embedded, layer),
        state.hidden[0], None if state.cell is None else state.cell[0],
        state.memory.keys, state.memory.values, state.memory.real,
        attention.W_s, attention.v, layer.inputs[1], layer.recurrent,
        torch.zeros_like(layer.bias) if layer.recurrent_bias is None else layer.recurrent_bias,
    )  # fmt: skip
    outputs = states.transpose(0, 1)
    features = decoder.readout.features(outputs, contexts.transpose(0, 1), embedded.transpose(0, 1))
    return Decoded(features, weights.permute(1, 0, 2)[:, None, None], states=outputs)


def _unfit_for_capture(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Refusal:
    if state.hidden[0].device.type != "cuda" or not torch.is_grad_enabled():
        return "gains only where gradients are computed on a GPU"
    if not is_known(decoder.attention) or type(decoder.attention) is NoAttention:
        return "the attention is not one of this package's mechanisms"
    if decoder.training and getattr(decoder.attention, "dropout", None):
        return "attention weights are dropped"
    return "not the first step" if state.position else _unfit_loop(decoder, tokens, state, own)


@replaces(decode, unless=_unfit_for_capture, bypasses=_bypassed)
def decode_captured(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Decoded:
    """The loop replayed from CUDA graphs, with deferred weight gradients."""
    embedded = decoder.embed(tokens.T)
    given = _given(decoder, tokens, embedded, state)
    return decoded_of(decoder, run_captured(run_steps, decoder, loop_weights(decoder), given), embedded)


def _unfit_for_deferring(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Refusal:
    if not torch.is_grad_enabled() or tokens.size(1) < 2:
        return "gains only where gradients of several steps are computed"
    if not deferring_pays(loop_weights(decoder).values()):
        return "gains nothing with weights this small"
    return _unfit_loop(decoder, tokens, state, own)


@replaces(decode, unless=_unfit_for_deferring, bypasses=_bypassed)
def decode_deferred(
    decoder: RecurrentDecoder, tokens: Tensor, state: RecurrentState, own: Collection[int] = ()
) -> Decoded:
    """The loop with one product for each weight's gradient after the last step."""
    embedded = decoder.embed(tokens.T)
    given = _given(decoder, tokens, embedded, state)
    found = run_with_weights(run_steps, decoder, loop_weights(decoder), given, state.position)
    return decoded_of(decoder, found, embedded)


def _given(decoder: RecurrentDecoder, tokens: Tensor, embedded: Tensor, state: RecurrentState) -> Given:
    gates = _gates(decoder, tokens, embedded, layers_of(decoder)[0])
    masks = [mask for mask in decoder.layer_masks(len(embedded), state) if mask is not None]
    return (
        gates, torch.stack(state.hidden), None if state.cell is None else torch.stack(state.cell), state.feed,
        state.memory.keys, state.memory.values, state.memory.real, torch.stack(masks) if masks else None,
    )  # fmt: skip


def _gates(decoder: RecurrentDecoder, tokens: Tensor, embedded: Tensor, layer: Layer) -> Tensor:
    """W_e e + b of all steps."""
    return word_gates(decoder.embedding, decoder.embedding_dropout, tokens.T, embedded, layer.inputs[0], layer.bias)


def loop_weights(decoder: RecurrentDecoder) -> dict[str, Tensor]:
    """The parameters that the loop multiplies with; `functional_call` may have replaced them by any tensors."""
    inside = ("attention.", "recurrence.", "readout.combine.")
    return {name: x for name, x in decoder.named_parameters() if name.startswith(inside)}
