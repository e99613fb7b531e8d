"""The GRU of Cho et al. and Bahdanau et al. 2014 over whole sequences, in place of torch's nn.GRU."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import dropout, linear
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from regard.models.rnn.cells import gru_2014_cell


class Gru2014(nn.Module):
    """Layers of `gru_2014_cell`, called like nn.GRU: packed sentences, or [time, batch, input].

    Parameters have nn.GRU's names and gate order (r, z, n). A gate has one bias, bias_ih: the paper leaves biases out
    of its equations.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        self.batch_first = batch_first
        self.hidden_size, self.num_layers, self.dropout = hidden_size, num_layers, dropout
        self.ways = ("", "_reverse") if bidirectional else ("",)
        bound = hidden_size**-0.5
        for layer in range(num_layers):
            width = hidden_size * len(self.ways) if layer else input_size
            for way in self.ways:
                shapes = {"weight_ih": (width,), "weight_hh": (hidden_size,), "bias_ih": ()}
                for name, shape in shapes.items():
                    drawn = torch.empty(3 * hidden_size, *shape).uniform_(-bound, bound)
                    self.register_parameter(f"{name}_l{layer}{way}", nn.Parameter(drawn))

    def forward(
        self, inputs: PackedSequence | Float[Tensor, "one other input"], first: Tensor | None = None
    ) -> tuple[PackedSequence | Float[Tensor, "one other state"], Float[Tensor, "depth batch units"]]:
        """States of the last layer, and the final state of each layer and direction; `first` is zero if None."""
        if not isinstance(inputs, PackedSequence):
            x = inputs.transpose(0, 1) if self.batch_first else inputs
            states, ended = self._run(x, x.new_ones(x.shape[:2], dtype=torch.bool), first)
            return states.transpose(0, 1) if self.batch_first else states, ended
        padded, lengths = pad_packed_sequence(inputs)
        real = torch.arange(len(padded))[:, None] < lengths
        states, ended = self._run(padded, real.to(padded.device), first)
        return pack_padded_sequence(states, lengths, enforce_sorted=False), ended

    def _run(
        self, x: Float[Tensor, "time batch input"], real: Bool[Tensor, "time batch"], first: Tensor | None
    ) -> tuple[Float[Tensor, "time batch state"], Float[Tensor, "depth batch units"]]:
        ended: list[Tensor] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = dropout(x, self.dropout, self.training)
            outputs = []
            for way in self.ways:
                state = x.new_zeros(x.shape[1], self.hidden_size) if first is None else first[len(ended)]
                states = self._read(x, real, state, f"l{layer}{way}")
                ended.append(states[0 if way else -1])
                outputs.append(torch.stack(states))
            x = torch.cat(outputs, dim=-1)
        return x, torch.stack(ended)

    def _read(self, x: Tensor, real: Tensor, state: Tensor, end: str) -> list[Tensor]:
        """The states of one layer in one direction; a padded step leaves the state unchanged."""
        W, U, b = (getattr(self, f"{name}_{end}") for name in ("weight_ih", "weight_hh", "bias_ih"))
        given, states = linear(x, W, b), list[Tensor]()
        steps = reversed(range(len(x))) if end.endswith("_reverse") else range(len(x))
        for t in steps:
            state = torch.where(real[t][:, None], gru_2014_cell(given[t], U, state), state)
            states.append(state)
        return states[::-1] if end.endswith("_reverse") else states
