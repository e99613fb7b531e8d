"""The reader: a uni- or bidirectional GRU or LSTM whose states are the decoder's memory."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.config import RecurrentConfig


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
        self.output_dropout = nn.Dropout(config.dropout if config.encoder_layers > 1 else 0.0)
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
        batch, longest = source.shape
        embedded = self.dropout(self.embedding(source))
        # A blank sentence still takes one step; its mask says that nothing in it is real.
        packed = pack_padded_sequence(embedded, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        outputs, final = self.recurrence(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=longest)
        hidden, cell = final if isinstance(final, tuple) else (final, None)
        real = torch.arange(longest, device=source.device) < lengths[:, None]
        return Encoded(
            states=self.output_dropout(states),
            real=real,
            hidden=hidden.view(-1, self.directions, batch, hidden.size(-1)),
            cell=None if cell is None else cell.view(-1, self.directions, batch, cell.size(-1)),
        )
