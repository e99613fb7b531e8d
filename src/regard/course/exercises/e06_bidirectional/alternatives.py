"""Exercise 6: other correct ways."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def with_a_view(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    outputs, hidden = gru(pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False))
    pairs = hidden.view(gru.num_layers, 2, len(lengths), gru.hidden_size)
    return pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])[0], pairs.transpose(
        1, 2
    ).flatten(2)


def layer_by_layer(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    outputs, hidden = gru(pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False))
    layers = [torch.cat([hidden[2 * layer], hidden[2 * layer + 1]], dim=1) for layer in range(gru.num_layers)]
    return pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])[0], torch.stack(layers)
