"""Exercise 5: other correct ways."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def with_pad_sequence(sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
    rows = [torch.tensor(sentence) for sentence in sentences]
    return pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows])


def sorted_and_restored(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    ordered, order = lengths.sort(descending=True)
    outputs, hidden = gru(pack_padded_sequence(embedded[order], ordered, batch_first=True))
    back = order.argsort()
    return pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])[0][back], hidden[-1][back]


def gathered(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Read on through the padding, then take the state at the last word: right for a network that reads one way."""
    outputs, _ = gru(embedded)
    real = torch.arange(embedded.shape[1]) < lengths[:, None]
    return outputs * real[..., None], outputs[torch.arange(len(lengths)), lengths - 1]
