"""The Transformer's reader: every word looks at every word."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.masking import lengths_to_mask
from regard.attention.scaled_dot.module import MultiHeadAttention
from regard.models.config import TransformerConfig
from regard.models.transformer.layers import FeedForward, Positions


@dataclass(frozen=True)
class EncodedByLayers:
    """States for every word; self-attention weights layer by layer if they were asked for."""

    states: Float[Tensor, "batch source width"]
    real: Bool[Tensor, "batch source"]
    weights: Float[Tensor, "batch layer head source source"] | None


class EncoderLayer(nn.Module):
    """x ← x + attention(norm x); x ← x + feedforward(norm x)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width = config.width
        self.attention_norm = nn.LayerNorm(width)
        self.attention = MultiHeadAttention(width, width, width, config.heads, dropout=config.dropout_inside)
        self.feedforward_norm = nn.LayerNorm(width)
        self.feedforward = FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, states: Float[Tensor, "batch source width"], real: Bool[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source width"], Float[Tensor, "batch head source source"] | None]:
        normed = self.attention_norm(states)
        attended = self.attention(normed, self.attention.prepare(normed, real))
        states = states + self.dropout(attended.context)
        return states + self.dropout(self.feedforward(self.feedforward_norm(states))), attended.weights


class TransformerEncoder(nn.Module):
    """N layers and a last norm, as pre-norm wants it."""

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.positions = Positions(config, embedding)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.width)

    def forward(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"], *, want_weights: bool = False
    ) -> EncodedByLayers:
        """Read every sentence; `weights` is what each word of it looked at, in every layer and head."""
        real = lengths_to_mask(lengths, source.size(1))
        return self.read(self.positions.embedding(source), real, want_weights=want_weights)

    def read(
        self,
        embedded: Float[Tensor, "batch source width"],
        real: Bool[Tensor, "batch source"],
        *,
        want_weights: bool = False,
    ) -> EncodedByLayers:
        """The same, from the words' embeddings."""
        states, seen = self.positions.place(embedded, 0), []
        for layer in self.layers:
            states, weights = layer(states, real)
            if want_weights:
                seen.append(weights)
        return EncodedByLayers(self.norm(states), real, torch.stack(seen, dim=1) if seen else None)
