"""One step of a stack of GRU or LSTM layers, on the parameters of torch's own nn.GRU or nn.LSTM.

torch's cells multiply the whole input at every step. Here the part of the input product that is known beforehand is
computed for all steps at once, outside the loop, and handed in as `gates`; `ready` does the same for what can be done
to the weights alone, because autograd pays for it at every step otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.plain import plain_wanted
from regard.models.product import add_product, pack, packable, product
from regard.models.rnn.cell_gradients import GruCell, LstmCell


@dataclass(frozen=True)
class Layer:
    """One layer's weights; an LSTM's two biases are one sum, a GRU's second bias stays with its reset gate."""

    inputs: tuple[Float[Tensor, "gates _"], ...]
    """The input weights, cut by what they multiply."""
    bias: Float[Tensor, " gates"]
    recurrent: Float[Tensor, "gates units"]
    recurrent_bias: Float[Tensor, " gates"] | None


def ready(recurrence: nn.GRU | nn.LSTM, parts: Sequence[int]) -> tuple[Layer, ...]:
    """The weights of every layer, those of the first input cut into columns of the widths `parts`."""
    layers = []
    for index in range(recurrence.num_layers):
        into, recurrent, bias, recurrent_bias = (
            getattr(recurrence, f"{name}_l{index}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inputs = into.split(list(parts), dim=1) if index == 0 else (into,)
        if isinstance(recurrence, nn.LSTM):
            bias, recurrent_bias = bias + recurrent_bias, None
        layers.append(Layer(tuple(inputs), bias, recurrent, recurrent_bias))
    return tuple(layers)


def packed_layers(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The same weights, packed for decoding; see `models/product.py`."""

    def packed(weight: Tensor) -> Tensor:
        return pack(weight) if packable(weight) else weight

    return tuple(
        replace(layer, inputs=tuple(packed(part) for part in layer.inputs), recurrent=packed(layer.recurrent))
        for layer in layers
    )


def recur(
    gates: Float[Tensor, "batch gates"],
    hidden: tuple[Float[Tensor, "batch units"], ...],
    cell: tuple[Float[Tensor, "batch units"], ...] | None,
    layers: tuple[Layer, ...],
    dropped: Float[Tensor, "between batch units"] | None = None,
) -> tuple[tuple[Float[Tensor, "batch units"], ...], tuple[Float[Tensor, "batch units"], ...] | None]:
    """One step through all layers; `gates` is the first one's input product, bias included.

    `dropped` multiplies what passes from one layer to the next: zeros, and the others made larger.
    """
    new_hidden: list[Tensor] = []
    new_cell: list[Tensor] = []
    for index, layer in enumerate(layers):
        if index:
            below = new_hidden[-1] if dropped is None else new_hidden[-1] * dropped[index - 1]
            gates = product(below, layer.inputs[0], layer.bias)
        if cell is None:
            assert layer.recurrent_bias is not None
            new_hidden.append(gru_step(gates, hidden[index], layer.recurrent, layer.recurrent_bias))
        else:
            s, c = lstm_step(gates, hidden[index], cell[index], layer.recurrent)
            new_hidden.append(s)
            new_cell.append(c)
    return tuple(new_hidden), None if cell is None else tuple(new_cell)


def gru_step(
    gates: Float[Tensor, "batch three_units"],
    hidden: Float[Tensor, "batch units"],
    recurrent: Float[Tensor, "three_units units"],
    bias: Float[Tensor, " three_units"],
) -> Float[Tensor, "batch units"]:
    """torch's GRU: the reset gate acts on the product U s (the paper's acts on s before it).

    r, z = σ(gates + U s + b)     n = tanh(gates_n + r ∘ (U_n s + b_n))     s' = (1 - z) ∘ n + z ∘ s
    """
    both = product(hidden, recurrent, bias)
    if _by_hand():
        state: Tensor = GruCell.apply(gates, both, hidden)  # type: ignore[no-untyped-call]
        return state
    gate_r, gate_z, gate_n = gates.chunk(3, dim=-1)
    from_r, from_z, from_n = both.chunk(3, dim=-1)
    new = torch.tanh(torch.addcmul(gate_n, torch.sigmoid(gate_r + from_r), from_n))
    # Mixed precision computes the gates in less than the state is kept in.
    return torch.lerp(new.to(hidden.dtype), hidden, torch.sigmoid(gate_z + from_z).to(hidden.dtype))


def _by_hand() -> bool:
    """Whether a step is one operation with our own gradient.

    torch.compile fuses plain operations itself; what these write into parts of a tensor it has computed wrongly.
    """
    return torch.is_grad_enabled() and not (plain_wanted() or torch.compiler.is_compiling())


def lstm_step(
    gates: Float[Tensor, "batch four_units"],
    hidden: Float[Tensor, "batch units"],
    cell: Float[Tensor, "batch units"],
    recurrent: Float[Tensor, "four_units units"],
) -> tuple[Float[Tensor, "batch units"], Float[Tensor, "batch units"]]:
    """i, f, g, o = gates + U s     c' = σ(f) ∘ c + σ(i) ∘ tanh(g)     s' = σ(o) ∘ tanh(c')"""
    gates = add_product(gates, hidden, recurrent)
    if _by_hand():
        state, cell = LstmCell.apply(gates, cell)  # type: ignore[no-untyped-call]
        return state, cell
    into, forget, new, out = gates.chunk(4, dim=-1)
    cell = torch.addcmul(torch.sigmoid(forget) * cell, torch.sigmoid(into), torch.tanh(new))
    return torch.sigmoid(out) * torch.tanh(cell), cell
