"""Positions, feed-forward block and output layer that encoder and decoder share."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.model_config import TransformerConfig


class Positions(nn.Module):
    """Word embeddings times √width plus the position's vector (Vaswani et al. 2017, sections 3.4 and 3.5).

    sinusoidal: PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos(the same)
    """

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.width, self.scale = config.width, math.sqrt(config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.learned = nn.Embedding(config.longest, config.width) if config.positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight, std=0.02)

    def place(self, embedded: Float[Tensor, "batch length width"], first: int) -> Float[Tensor, "batch length width"]:
        """The vectors of words from their embeddings; the first word is at position `first`."""
        embedded = embedded * self.scale
        end = first + embedded.size(1)
        if self.learned is None:
            places = torch.arange(first, end, device=embedded.device)
            where = sinusoids(places.to(torch.promote_types(embedded.dtype, torch.float32)), self.width).to(embedded)
        elif end <= self.learned.num_embeddings:
            where = self.learned.weight[first:end]
        else:
            raise ValueError(
                f"a sequence of {end} pieces, but the model learned {self.learned.num_embeddings} positions: "
                "shorten it, or train with a larger [model] longest"
            )
        placed: Tensor = self.dropout(embedded + where)
        return placed


def sinusoids(places: Float[Tensor, " length"], width: int) -> Float[Tensor, "length {width}"]:
    """The rows of PE that belong to these positions.

    >>> sinusoids(torch.arange(2.0), 4)[1]  # sin 1, cos 1, sin 0.01, cos 0.01
    tensor([0.8415, 0.5403, 0.0100, 0.9999])
    """
    powers = torch.arange(0, width, 2, device=places.device, dtype=places.dtype) / width
    angles = places[:, None] / 10000.0**powers
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class FeedForward(nn.Module):
    """FFN(x) = W_2 max(0, W_1 x + b_1) + b_2 (section 3.3)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.width, config.feedforward)
        self.contract = nn.Linear(config.feedforward, config.width)
        self.dropout = nn.Dropout(config.dropout_inside)

    def forward(self, states: Float[Tensor, "batch length width"]) -> Float[Tensor, "batch length width"]:
        result: Tensor = self.contract(self.dropout(torch.relu(self.expand(states))))
        return result


class OutputLayer(nn.Module):
    """The output layer: logits from the decoder's states."""

    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        self.output = nn.Linear(width, vocabulary)

    def forward(self, features: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows vocabulary"]:
        logits: Tensor = self.output(features)
        return logits
