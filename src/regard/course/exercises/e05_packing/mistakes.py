"""Exercise 5: wrong encoders that people write."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def not_unsorted(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    ordered, order = lengths.sort(descending=True, stable=True)
    outputs, hidden = gru(pack_padded_sequence(embedded[order], ordered, batch_first=True))
    return pad_packed_sequence(outputs, batch_first=True)[0], hidden[-1]


def last_not_unsorted(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    ordered, order = lengths.sort(descending=True, stable=True)
    outputs, hidden = gru(pack_padded_sequence(embedded[order], ordered, batch_first=True))
    return pad_packed_sequence(outputs, batch_first=True)[0][order.argsort()], hidden[-1]


def sorted_twice(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Indexing with the order again instead of with its inverse."""
    ordered, order = lengths.sort(descending=True, stable=True)
    outputs, hidden = gru(pack_padded_sequence(embedded[order], ordered, batch_first=True))
    return pad_packed_sequence(outputs, batch_first=True)[0][order], hidden[-1][order]


def not_packed(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    outputs, hidden = gru(embedded)
    return outputs, hidden[-1]


def not_packed_but_masked(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    outputs, hidden = gru(embedded)
    real = torch.arange(embedded.shape[1]) < lengths[:, None]
    return outputs * real[..., None], hidden[-1]


def last_column(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)
    return states, states[:, -1]
