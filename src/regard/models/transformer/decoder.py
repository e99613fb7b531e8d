"""Transformer decoder: causal self-attention, then attention over the source."""

from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.attend import select_sentences
from regard.attention.protocol import Attended, Attention, Memory
from regard.attention.scaled_dot.module import MultiHeadAttention
from regard.models.model_config import TransformerConfig
from regard.models.step import Decoded, Step, given_weights
from regard.models.transformer.encoder import EncodedByLayers
from regard.models.transformer.layers import FeedForward, OutputLayer, Positions
from regard.registry import replaceable


@dataclass(frozen=True)
class TransformerState:
    """For each layer the projected source, and the key-value cache of the words written so far."""

    source: tuple[Memory, ...]
    written: tuple[Memory | None, ...]
    position: int = 0

    def select(self, rows: Int[Tensor, " rows"]) -> "TransformerState":
        return replace(
            self,
            source=select_sentences(self.source, rows),
            written=tuple(None if memory is None else memory.select(rows) for memory in self.written),
        )


@dataclass(frozen=True)
class _Layer:
    """One layer's states, its key-value cache, and its attention over the source."""

    states: Tensor
    written: Memory
    source: Attended


class DecoderLayer(nn.Module):
    """x ← x + self(norm x); x ← x + cross(norm x, source); x ← x + feedforward(norm x)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width = config.width
        self.self_norm = nn.LayerNorm(width)
        self.self_attention = MultiHeadAttention(width, width, width, config.heads, dropout=config.dropout_inside)
        self.cross_norm = nn.LayerNorm(width)
        self.cross_attention = MultiHeadAttention(width, width, width, config.heads, dropout=config.dropout_inside)
        self.feedforward_norm = nn.LayerNorm(width)
        self.feedforward = FeedForward(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        states: Float[Tensor, "rows target width"],
        source: Memory,
        written: Memory | None,
        position: int,
        *,
        weights: Float[Tensor, "rows head target source"] | None = None,
        trace: bool = False,
    ) -> _Layer:
        normed = self.self_norm(states)
        everything = torch.ones(normed.shape[:2], dtype=torch.bool, device=normed.device)
        now = self.self_attention.prepare(normed, everything)
        written = now if written is None else written.extend(now)
        itself = self.self_attention(normed, written, position, causal=True)
        states = states + self.dropout(itself.context)
        query = self.cross_norm(states)
        attended = look_at_source(self.cross_attention, query, source, position, weights=weights, trace=trace)
        states = states + self.dropout(attended.context)
        states = states + self.dropout(self.feedforward(self.feedforward_norm(states)))
        return _Layer(states, written, attended)


@replaceable
def look_at_source(
    attention: Attention,
    query: Float[Tensor, "rows target query"],
    memory: Memory,
    position: int,
    *,
    weights: Float[Tensor, "rows head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """The cross-attention of one layer."""
    return attention(query, memory, position, weights=weights, trace=trace)


class TransformerDecoder(nn.Module):
    """N layers and a final norm; `step` reads the key-value cache, so it computes only the new word."""

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding, vocabulary: int) -> None:
        super().__init__()
        self.positions = Positions(config, embedding)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(config.width)
        self.readout = OutputLayer(config.width, vocabulary)

    def start(self, encoded: EncodedByLayers) -> TransformerState:
        """The state before the first word: the source projected once for each layer, nothing written yet."""
        memories = tuple(layer.cross_attention.prepare(encoded.states, encoded.real) for layer in self._stack())
        return TransformerState(memories, (None,) * len(memories))

    def step(
        self,
        tokens: Int[Tensor, " rows"],
        state: TransformerState,
        *,
        weights: Float[Tensor, "rows layer head source"] | None = None,
        trace: bool = False,
    ) -> Step:
        """One step; `weights` replaces the cross-attention of every layer."""
        states, done = self._run_layers(self.positions.embedding(tokens[:, None]), state, weights, trace)
        after = replace(state, written=tuple(layer.written for layer in done), position=state.position + 1)
        return Step(
            logits=self.readout(states[:, 0]),
            state=after,
            weights=_stacked([layer.source for layer in done])[:, :, :, 0],
            trace=tuple(layer.source.trace for layer in done) if trace else (),
        )

    def forward(
        self,
        tokens: Int[Tensor, "batch target"],
        state: TransformerState,
        *,
        forced: Bool[Tensor, " target"] | None = None,
        want_weights: bool = False,
    ) -> Decoded:
        """All steps at once; raises if `forced` requests its own words as input, which would need a step loop."""
        if forced is not None and not bool(forced[1:].all()):
            raise ValueError(
                "the Transformer trains on all steps at once and cannot read its own words in between: "
                "set [train] teacher_forcing to 1, or use an rnn model"
            )
        states, done = self._run_layers(self.positions.embedding(tokens), state)
        return Decoded(states, _stacked([layer.source for layer in done]) if want_weights else None)

    def write(
        self, embedded: Float[Tensor, "batch target width"], state: TransformerState
    ) -> Float[Tensor, "batch target width"]:
        """The features of all steps, from the words' embeddings."""
        return self._run_layers(embedded, state)[0]

    def _run_layers(
        self, embedded: Tensor, state: TransformerState, weights: Tensor | None = None, trace: bool = False
    ) -> tuple[Tensor, list[_Layer]]:
        """Normed states of the words that follow those in `state`, and the result of every layer."""
        states, done = self.positions.place(embedded, state.position), []
        given = given_weights(weights, len(self.layers))
        for layer, source, written, chosen in zip(self._stack(), state.source, state.written, given, strict=True):
            result = layer(states, source, written, state.position, weights=chosen, trace=trace)
            states = result.states
            done.append(result)
        return self.norm(states), done

    def _stack(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.layers))


def _stacked(attended: list[Attended]) -> Tensor:
    return torch.stack([one.weights for one in attended if one.weights is not None], dim=1)
