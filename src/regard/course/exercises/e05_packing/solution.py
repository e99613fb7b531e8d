"""5 · Batching, padding and packing: a solution."""

# mypy: disable-error-code="no-any-return"

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def pad(sentences: list[list[int]]) -> tuple[Int[Tensor, "batch source"], Int[Tensor, " batch"]]:
    """One rectangle of ids, filled up with 0, and the true lengths."""
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    ids = torch.zeros(len(sentences), int(lengths.max()), dtype=torch.long)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = torch.tensor(sentence)
    return ids, lengths


def encode(
    gru: nn.GRU, embedded: Float[Tensor, "batch source width"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch source hidden"], Float[Tensor, "batch hidden"]]:
    """All states (zeros at the padding) and the state after each sentence's last word; `gru` is batch_first."""
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    outputs, hidden = gru(packed)
    states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=embedded.shape[1])
    return states, hidden[-1]
