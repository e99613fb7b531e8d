"""The decoder's step loop, accelerated: input products before the loop, cells with hand-written gradients.

The first layer's input product W [e; c; feed] is split by columns: W_e e + b does not depend on the state and is one
product for all steps; W_c c and W_f feed are added inside the loop. Features that are not fed back are computed for all
steps after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.protocol import Attended, Memory
from regard.fast.recurrent.cell_functions import GruCell, LstmCell
from regard.fast.recurrent.deferred_gradient import DeferredGradient, deferred
from regard.models.rnn.cells import PARAMETERS
from regard.models.rnn.decoder import RecurrentDecoder, look
from regard.models.rnn.state import RecurrentState
from regard.models.step import Decoded


@dataclass(frozen=True)
class Layer:
    """One layer's weights. An LSTM's two biases are added once; a GRU's second bias is under its reset gate."""

    inputs: tuple[Float[Tensor, "gates _"], ...]
    """The input weight, split by columns: embedding, context and feed for the first layer."""
    bias: Float[Tensor, " gates"]
    recurrent: Float[Tensor, "gates units"]
    recurrent_bias: Float[Tensor, " gates"] | None


@dataclass(frozen=True)
class LoopStep:
    """One step; its features only where input feeding needs them."""

    output: Float[Tensor, "batch units"]
    attended: Attended
    features: Float[Tensor, "batch feature"] | None
    state: RecurrentState


def layers_of(decoder: RecurrentDecoder) -> tuple[Layer, ...]:
    """The weights of every layer, those of the first input split into embedding, context and feed."""
    recurrence, layers = decoder.recurrence, []
    parts = [decoder.embedding.embedding_dim, decoder.context_width, decoder.feed_width]
    for index in range(recurrence.num_layers):
        W, U, b, b_u = (getattr(recurrence, f"{name}_l{index}") for name in PARAMETERS)
        inputs = (W,) if index else W.split(parts, dim=1)
        if isinstance(recurrence, nn.LSTM):
            b, b_u = b + b_u, None
        layers.append(Layer(tuple(inputs), b, U, b_u))
    return tuple(layers)


def advance(
    decoder: RecurrentDecoder,
    gates: Float[Tensor, "rows gates"],
    state: RecurrentState,
    layers: tuple[Layer, ...],
    mask: Float[Tensor, "between rows units"] | None = None,
) -> LoopStep:
    """`decoder.advance` given `gates`, the input gates of the word."""
    _, context_columns, feed_columns = layers[0].inputs
    attended = None
    if state.feed is not None:
        gates = torch.addmm(gates, state.feed, feed_columns.t())
    if decoder.context_width:
        attended = look(decoder.attention, state.hidden[-1][:, None], state.memory, state.position)
        gates = torch.addmm(gates, attended.context[:, 0], context_columns.t())
    hidden, cell = advance_layers(gates, state.hidden, state.cell, layers, mask)
    if attended is None:
        attended = look(decoder.attention, hidden[-1][:, None], state.memory, state.position)
    features = None
    if decoder.feed_width:  # features that are fed do not depend on the word, so any tensor stands for it
        features = decoder.readout.features(hidden[-1], attended.context[:, 0], gates)
    memory = attended.memory or state.memory
    after = replace(state, memory=memory, hidden=hidden, cell=cell, feed=features, position=state.position + 1)
    return LoopStep(hidden[-1], attended, features, after)


def advance_layers(
    gates: Float[Tensor, "rows gates"],
    hidden: tuple[Float[Tensor, "rows units"], ...],
    cell: tuple[Float[Tensor, "rows units"], ...] | None,
    layers: tuple[Layer, ...],
    mask: Float[Tensor, "between rows units"] | None = None,
) -> tuple[tuple[Float[Tensor, "rows units"], ...], tuple[Float[Tensor, "rows units"], ...] | None]:
    """One step through all layers; `gates` is the first layer's input product with its bias."""
    new_hidden: list[Tensor] = []
    new_cell: list[Tensor] = []
    for index, layer in enumerate(layers):
        if index:
            below = new_hidden[-1] if mask is None else new_hidden[-1] * mask[index - 1]
            gates = functional.linear(below, layer.inputs[0], layer.bias)
        if cell is None:
            new_hidden.append(_gru(gates, hidden[index], layer))
        else:
            s, c = _lstm(gates, hidden[index], cell[index], layer)
            new_hidden.append(s)
            new_cell.append(c)
    return tuple(new_hidden), None if cell is None else tuple(new_cell)


def _gru(gates: Tensor, state: Tensor, layer: Layer) -> Tensor:
    recurrent = functional.linear(state, layer.recurrent, layer.recurrent_bias)
    after: Tensor = GruCell.apply(gates, recurrent, state)  # type: ignore[no-untyped-call]
    return after


def _lstm(gates: Tensor, state: Tensor, cell: Tensor, layer: Layer) -> tuple[Tensor, Tensor]:
    gates = torch.addmm(gates, state, layer.recurrent.t())
    state, cell = LstmCell.apply(gates, cell)  # type: ignore[no-untyped-call]
    return state, cell


def run_steps(
    decoder: RecurrentDecoder,
    gates: Float[Tensor, "target batch gates"],
    hidden: Float[Tensor, "layer batch units"],
    cell: Float[Tensor, "layer batch units"] | None,
    feed: Float[Tensor, "batch feed"] | None,
    keys: Float[Tensor, "batch *head source key"],
    values: Float[Tensor, "batch *head source value"],
    real: Bool[Tensor, "batch source"],
    masks: Float[Tensor, "target between batch units"] | None,
    position: int = 0,
) -> tuple[Tensor, ...]:
    """All steps over given words as a function of tensors, for CUDA graphs and weight swaps; see `gathered`."""
    layers, steps = layers_of(decoder), list[LoopStep]()
    if type(layers[0].recurrent) is DeferredGradient:
        keys, values = deferred(keys), deferred(values)
    cells = None if cell is None else cell.unbind(0)
    state = RecurrentState(Memory(keys, values, real), hidden.unbind(0), cells, feed, position)
    for t, step in enumerate(gates.unbind(0)):
        steps.append(advance(decoder, step, state, layers, None if masks is None else masks[t]))
        state = steps[-1].state
    return gathered(steps)


def gathered(steps: Sequence[LoopStep]) -> tuple[Tensor, ...]:
    """Outputs and contexts of all steps; weights, if there are any; features, if they are fed.

    `[batch, target, units]`, `[batch, target, value]`, `[batch, head, target, source]`, `[batch, target, feature]`.
    """
    outputs = torch.stack([step.output for step in steps], dim=1)
    contexts = torch.cat([step.attended.context for step in steps], dim=1)
    weights = [step.attended.weights for step in steps if step.attended.weights is not None]
    features = [step.features for step in steps if step.features is not None]
    seen = [torch.cat(weights, dim=2)] if weights else []
    return outputs, contexts, *seen, *([torch.stack(features, dim=1)] if features else [])


def decoded_of(
    decoder: RecurrentDecoder, found: tuple[Tensor, ...], embedded: Float[Tensor, "target batch embedding"]
) -> Decoded:
    """The result of `decode` from what `gathered` returned."""
    outputs, contexts, *others = found
    words = embedded.transpose(0, 1)
    features = others.pop() if decoder.feed_width else decoder.readout.features(outputs, contexts, words)
    return Decoded(features, others[0][:, None] if others else None, states=outputs)
