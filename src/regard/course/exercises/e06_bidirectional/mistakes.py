"""Exercise 6: wrong bidirectional encoders that people write."""

# mypy: disable-error-code="no-any-return"

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def _packed(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    outputs, hidden = gru(pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False))
    return pad_packed_sequence(outputs, batch_first=True)[0], hidden


def forward_only(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states[..., : gru.hidden_size], hidden[0::2]


def summary_forward_only(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states, hidden[0::2]


def summary_backward_only(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states, hidden[1::2]


def summary_forward_twice(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states, torch.cat([hidden[0::2], hidden[0::2]], dim=-1)


def halves(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states, torch.cat([hidden[: gru.num_layers], hidden[gru.num_layers :]], dim=-1)


def reshaped(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = _packed(gru, embedded, lengths)
    return states, hidden.reshape(gru.num_layers, len(lengths), 2 * gru.hidden_size)


def not_packed(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, hidden = gru(embedded)
    return states, torch.cat([hidden[0::2], hidden[1::2]], dim=-1)


def not_packed_but_masked(gru: nn.GRU, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states, summary = not_packed(gru, embedded, lengths)
    return states * (torch.arange(embedded.shape[1]) < lengths[:, None])[..., None], summary
