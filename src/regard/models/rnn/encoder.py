"""The reader: a uni- or bidirectional GRU or LSTM whose states are the decoder's memory."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from regard.attention.masking import lengths_to_mask
from regard.attention.plain import plain_wanted
from regard.models.config import RecurrentConfig
from regard.models.custom import watched
from regard.models.lookup import look_up
from regard.models.rnn.fused.operation import Reading
from regard.models.rnn.fused.precision import fusible, working_dtype
from regard.models.rnn.fused.product import linear
from regard.models.rnn.padded_lstm import read_padded
from regard.models.rnn.reading import read

FULL, HALF_FULL, FEW_UNITS = 0.9, 0.5, 256
"""The share of real words from which a CPU reads an LSTM's padding along, and that in half precision with few units:
there the small operations of a packed step cost more than products with padding do (docs/log.md)."""


@dataclass(frozen=True)
class Encoded:
    """Annotations h_j = [→h_j; ←h_j] for every word, and the state each direction ended in."""

    states: Float[Tensor, "batch source state"]
    real: Bool[Tensor, "batch source"]
    hidden: Float[Tensor, "layer direction batch units"]
    cell: Float[Tensor, "layer direction batch units"] | None


class RecurrentEncoder(nn.Module):
    """Runs over packed sequences, so that padding never reaches the recurrence."""

    def __init__(self, config: RecurrentConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = nn.Dropout(config.embedding_dropout)
        self.state_dropout = nn.Dropout(config.state_dropout)
        self.directions = 2 if config.bidirectional else 1
        recurrence = nn.GRU if config.cell == "gru" else nn.LSTM
        self.recurrence = recurrence(
            config.embedding,
            config.encoder_units,
            num_layers=config.encoder_layers,
            bidirectional=config.bidirectional,
            dropout=config.dropout if config.encoder_layers > 1 else 0.0,
            batch_first=True,
        )

    def forward(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> Encoded:
        """Read every sentence; a blank one ends in zeros, as if nothing had been read."""
        encoded = self._read(source, lengths)
        return replace(encoded, states=self.state_dropout(encoded.states)) if self.state_dropout.p else encoded

    def _read(self, source: Tensor, lengths: Tensor) -> Encoded:
        longest = source.size(1)
        embedded = self.dropout(look_up(self.embedding, source))
        real = lengths_to_mask(lengths, longest)
        if fusible(embedded) and embedded.numel() and not self._own():
            return self._fused(embedded, real)
        on_host = lengths.cpu()
        if self._full_enough(embedded, on_host):
            assert isinstance(self.recurrence, nn.LSTM)
            states, *ended = read_padded(self.recurrence, embedded, lengths, real)
            return Encoded(states, real, *(self._by_direction(last, None) for last in ended))
        if longest == 0:
            embedded = functional.pad(embedded, (0, 0, 0, 1))
        # Packing wants a word in every row; what a blank row makes of it is dropped below.
        packed = pack_padded_sequence(embedded, on_host.clamp(min=1), batch_first=True, enforce_sorted=False)
        outputs, final = self._run(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=max(longest, 1))
        blank = lengths == 0 if bool((on_host == 0).any()) else None
        hidden, cell = final if isinstance(final, tuple) else (final, None)
        return Encoded(
            states=states[:, :longest],
            real=real,
            hidden=self._by_direction(hidden, blank),
            cell=None if cell is None else self._by_direction(cell, blank),
        )

    def _fused(self, embedded: Tensor, real: Tensor) -> Encoded:
        """Layer by layer with the kernels of `fused`, which need no lengths on the host and see no padding."""
        recurrence, ways = self.recurrence, ("", "_reverse")[: self.directions]
        states = torch.where(real[..., None], embedded, 0.0)  # zero gradients times NaN would be NaN
        hidden, cell = [], []
        for layer in range(recurrence.num_layers):
            if layer:
                states = functional.dropout(states, recurrence.dropout, self.training)
            into, recurrent, bias, recurrent_bias = (
                torch.stack([getattr(recurrence, f"{name}_l{layer}{way}") for way in ways])
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            given = linear(states, into.flatten(0, 1), bias.flatten())
            given = given.view(*given.shape[:2], self.directions, -1)
            states, last, cells = Reading.apply(  # type: ignore[no-untyped-call]
                given, real, recurrent.to(given.dtype), recurrent_bias.to(given.dtype)
            )
            hidden.append(last)
            cell.extend(cells)  # a GRU has none
        return Encoded(states, real, torch.stack(hidden), torch.stack(cell) if cell else None)

    def _full_enough(self, embedded: Tensor, lengths: Tensor) -> bool:
        """Whether an LSTM that learns on the CPU reads its padding along, faster than it would leave it out."""
        if not (isinstance(self.recurrence, nn.LSTM) and self._learns_here(embedded) and embedded.numel()):
            return False
        dtype = working_dtype(embedded)
        if dtype == torch.float16:  # for which oneDNN has no LSTM
            return False
        small = dtype.itemsize == 2 and self.recurrence.hidden_size <= FEW_UNITS
        return int(lengths.sum()) >= (HALF_FULL if small else FULL) * embedded.size(0) * embedded.size(1)

    def _learns_here(self, inputs: Tensor) -> bool:
        """Whether gradients are wanted on a CPU, by fast paths."""
        fast = torch.is_grad_enabled() and not (plain_wanted() or torch.compiler.is_compiling())
        return fast and not self._own() and inputs.device.type == "cpu"

    def _own(self) -> bool:
        """Whether the library's module is somebody's own, or watched: then it must be called itself."""
        known = type(self.recurrence) in (nn.GRU, nn.LSTM) and self.recurrence.bias
        return not known or watched(self.recurrence)

    def _run(self, packed: PackedSequence) -> tuple[PackedSequence, Tensor | tuple[Tensor, Tensor]]:
        """The library's recurrence, but where something learns on the CPU, which it slows down."""
        if self._learns_here(packed.data):
            return read(self.recurrence, packed)
        outputs, final = self.recurrence(packed)
        return outputs, final

    def _by_direction(self, final: Tensor, blank: Tensor | None) -> Tensor:
        if blank is not None:
            final = torch.where(blank[:, None], 0.0, final)
        return final.view(-1, self.directions, *final.shape[1:])
