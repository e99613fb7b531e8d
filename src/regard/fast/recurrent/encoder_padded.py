"""An LSTM over padded sentences with oneDNN's fast CPU kernel, which torch does not use for packed sentences.

torch calls oneDNN only if all sentences have the same length; packed sentences of different lengths run step by step,
in twice the time (docs/log.md). Here padded positions are marked by one more input, whose weights fix the gates:

    i = σ(-∞) = 0     f = σ(+∞) = 1     so c' = f ∘ c + i ∘ g = c

In the forward direction a sentence's cell keeps its last value to the end of the row. In the reverse direction it stays
zero until the sentence begins, and so does the state, σ(o) ∘ tanh(0). Every gradient at padding is exactly zero.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

HELD = 1e4
"""Used for ∞: every dtype can represent it, and its sigmoid is 1."""


def run_padded(
    recurrence: nn.LSTM,
    inputs: Float[Tensor, "batch source width"],
    lengths: Int[Tensor, " batch"],
    real: Bool[Tensor, "batch source"],
) -> tuple[Float[Tensor, "batch source state"], Float[Tensor, "depth batch units"], Float[Tensor, "depth batch units"]]:
    """States (zeros at padding), the last state and the last cell of every layer and direction."""
    ways = ("", "_reverse") if recurrence.bidirectional else ("",)
    units, whole, states = recurrence.hidden_size, bool(real.all()), inputs
    hidden, cells = list[Tensor](), list[Tensor]()
    for layer in range(recurrence.num_layers):
        if layer and recurrence.dropout and recurrence.training:
            states = _dropped(states, lengths, recurrence.dropout)
        weights = [
            getattr(recurrence, f"{name}_l{layer}{way}")
            for way in ways
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        if not whole:
            states = _marked(states, real)
            weights[::4] = [torch.cat([into, _holding(into)], dim=1) for into in weights[::4]]
        zero = states.new_zeros(len(ways), len(states), units)
        states, _, cell = torch.lstm(states, (zero, zero), weights, True, 1, 0.0, True, len(ways) == 2, True)
        if not whole:
            states = torch.where(real[..., None], states, 0.0)
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, units)
        hidden.append(states[..., :units].gather(1, last)[:, 0])
        hidden.extend(states[:, :1, units:].unbind(1) if len(ways) == 2 else ())
        cells.extend(cell)
    return states, torch.stack(hidden), torch.stack(cells)


def _dropped(states: Tensor, lengths: Tensor, share: float) -> Tensor:
    """Draws the mask in packed order: the same seed drops the same numbers as torch does for packed sentences."""
    packed = pack_padded_sequence(states, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
    kept = packed._replace(data=functional.dropout(packed.data, share))
    return pad_packed_sequence(kept, batch_first=True, total_length=states.size(1))[0]


def _marked(inputs: Tensor, real: Tensor) -> Tensor:
    """Inputs with the mark; values at padding are replaced by zeros, because zero gradients times NaN would be NaN."""
    real = real[..., None]
    return torch.cat([torch.where(real, inputs, 0.0), (~real).to(inputs.dtype)], dim=-1)


def _holding(into: Tensor) -> Tensor:
    """The weights of the mark, for the gates i, f, g and o."""
    column = into.new_zeros(4, len(into) // 4)
    column[0], column[1] = -HELD, HELD
    return column.view(-1, 1)
