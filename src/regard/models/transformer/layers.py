"""Positions, feed-forward block and output layer that encoder and decoder share."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.config import TransformerConfig


class Positions(nn.Module):
    """Word embeddings times √width plus the position's vector (Vaswani et al. 2017, sections 3.4 and 3.5).

    sinusoidal: PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos(the same)
    """

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.scale = math.sqrt(config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.learned = nn.Embedding(config.longest, config.width) if config.positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight, std=0.02)

    def forward(self, tokens: Tensor, first: int = 0) -> Float[Tensor, "batch length width"]:
        embedded = self.embedding(tokens) * self.scale
        length = tokens.size(1)
        if self.learned is None:
            where = sinusoids(first + length, embedded.size(-1)).to(embedded)[first:]
        else:
            limit = self.learned.num_embeddings
            if first + length > limit:
                raise ValueError(
                    f"a sequence of {first + length} pieces, but the model learned {limit} positions: "
                    "shorten it, or train with a larger [model] longest"
                )
            where = self.learned.weight[first : first + length]
        placed: Tensor = self.dropout(embedded + where)
        return placed


def sinusoids(length: int, width: int) -> Float[Tensor, "length width"]:
    frequencies = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angles = torch.arange(length)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class FeedForward(nn.Module):
    """FFN(x) = W_2 max(0, W_1 x + b_1) + b_2 (section 3.3)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.width, config.feedforward)
        self.contract = nn.Linear(config.feedforward, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Float[Tensor, "batch length width"]) -> Float[Tensor, "batch length width"]:
        result: Tensor = self.contract(self.dropout(torch.relu(self.expand(states))))
        return result


class OutputLayer(nn.Module):
    """W x: the decoder's states become logits."""

    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        self.width = width
        self.output = nn.Linear(width, vocabulary)

    def forward(self, features: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows vocabulary"]:
        logits: Tensor = self.output(features)
        return logits
