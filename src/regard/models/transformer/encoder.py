"""Transformer encoder: self-attention over all words of the source."""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.masking import padding_mask
from regard.attention.scaled_dot.module import MultiHeadAttention
from regard.models.model_config import TransformerConfig
from regard.models.transformer.layers import FeedForward, Positions


@dataclass(frozen=True)
class EncodedByLayers:
    """States for every word, and which words are real."""

    states: Float[Tensor, "batch source width"]
    real: Bool[Tensor, "batch source"]


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
    ) -> Float[Tensor, "batch source width"]:
        normed = self.attention_norm(states)
        attended = self.attention(normed, self.attention.prepare(normed, real))
        states = states + self.dropout(attended.context)
        result: Tensor = states + self.dropout(self.feedforward(self.feedforward_norm(states)))
        return result


class TransformerEncoder(nn.Module):
    """N layers and a final norm, as pre-norm requires."""

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        self.positions = Positions(config, embedding)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.width)

    def forward(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> EncodedByLayers:
        """The states of every sentence."""
        return self.read(self.positions.embedding(source), padding_mask(lengths, source.size(1)))

    def read(
        self, embedded: Float[Tensor, "batch source width"], real: Bool[Tensor, "batch source"]
    ) -> EncodedByLayers:
        """The states of every sentence from the embeddings of its words."""
        states = self.positions.place(embedded, 0)
        for layer in self.layers:
            states = layer(states, real)
        return EncodedByLayers(self.norm(states), real)
