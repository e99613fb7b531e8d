"""Recurrent encoder: a uni- or bidirectional GRU or LSTM whose states are the decoder's memory."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.masking import padding_mask
from regard.models.model_config import RecurrentConfig
from regard.models.rnn.gru_2014 import Gru2014
from regard.registry import replaceable

RECURRENCES: dict[str, type[nn.GRU | nn.LSTM | Gru2014]] = {"gru": nn.GRU, "lstm": nn.LSTM, "gru-2014": Gru2014}


@dataclass(frozen=True)
class Encoded:
    """Annotations h_j = [→h_j; ←h_j] for every word, and the final state of each direction."""

    states: Float[Tensor, "batch source state"]
    real: Bool[Tensor, "batch source"]
    hidden: Float[Tensor, "layer direction batch units"]
    cell: Float[Tensor, "layer direction batch units"] | None


class RecurrentEncoder(nn.Module):
    """Bahdanau et al. 2014, section 3.2; runs over packed sequences, so that padding never reaches the recurrence."""

    def __init__(self, config: RecurrentConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = nn.Dropout(config.embedding_dropout)
        self.state_dropout = nn.Dropout(config.state_dropout)
        self.directions = 2 if config.bidirectional else 1
        self.recurrence = RECURRENCES[config.cell](
            config.embedding,
            config.encoder_units,
            num_layers=config.encoder_layers,
            bidirectional=config.bidirectional,
            dropout=config.dropout if config.encoder_layers > 1 else 0.0,
            batch_first=True,
        )

    def forward(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> Encoded:
        """The states of every sentence; the final state of an empty one is zero."""
        encoded = encode(self, self.dropout(self.embedding(source)), lengths)
        return replace(encoded, states=self.state_dropout(encoded.states))

    def by_direction(self, final: Float[Tensor, "depth batch units"]) -> Float[Tensor, "layer direction batch units"]:
        return final.view(-1, self.directions, *final.shape[1:])


@replaceable
def encode(
    encoder: RecurrentEncoder, embedded: Float[Tensor, "batch source width"], lengths: Int[Tensor, " batch"]
) -> Encoded:
    """Pack, run the recurrence, unpack."""
    longest = embedded.size(1)
    if longest == 0:
        embedded = functional.pad(embedded, (0, 0, 0, 1))
    # Packing needs a word in every row; the final state of an empty row is replaced by zeros below.
    packed = pack_padded_sequence(embedded, lengths.cpu().clamp(min=1), batch_first=True, enforce_sorted=False)
    outputs, final = encoder.recurrence(packed)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=max(longest, 1))
    ended = final if isinstance(final, tuple) else (final,)
    hidden, *cell = (encoder.by_direction(torch.where((lengths == 0)[:, None], 0.0, one)) for one in ended)
    return Encoded(states[:, :longest], padding_mask(lengths, longest), hidden, cell[0] if cell else None)
