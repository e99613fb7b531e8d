"""Encoded sentences as the padded tensors a model reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from regard.text.special import PAD


@dataclass(frozen=True)
class Padded:
    """Rows are sentences, filled up with PAD on the right."""

    source: Int[Tensor, "batch source"]
    source_lengths: Int[Tensor, " batch"]


GPU_MULTIPLE = 8
"""On a GPU sentences are filled up to multiples of so many words: graphs are kept by shape, and few shapes are few."""


def pad(rows: Sequence[Sequence[int]], device: torch.device) -> Padded:
    lengths = [len(row) for row in rows]
    longest = max(lengths)
    if torch.device(device).type == "cuda":
        longest += -longest % GPU_MULTIPLE
    ids = torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long, device=device)
    return Padded(ids, torch.tensor(lengths, dtype=torch.long, device=device))
