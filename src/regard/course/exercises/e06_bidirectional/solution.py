"""6 · An encoder that reads both ways: a solution."""

# mypy: disable-error-code="no-any-return"

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def encode(
    gru: nn.GRU, embedded: Float[Tensor, "batch source width"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch source both"], Float[Tensor, "layer batch both"]]:
    """The states of every word, forward beside backward, and for each layer the two last ones."""
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    outputs, hidden = gru(packed)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])
    forward, backward = hidden[0::2], hidden[1::2]
    return states, torch.cat([forward, backward], dim=-1)
