"""Recurrent decoder with attention before (Bahdanau) or after (Luong) the recurrent step."""

from collections.abc import Collection
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.build import build_attention
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Attended, Attention, Memory
from regard.models.model_config import RecurrentConfig
from regard.models.rnn.bridge import Bridge
from regard.models.rnn.cells import advance_cells
from regard.models.rnn.encoder import RECURRENCES, Encoded
from regard.models.rnn.readout import Readout
from regard.models.rnn.state import AdvancedStep, RecurrentState
from regard.models.step import Decoded, Step, given_weights
from regard.registry import replaceable


class RecurrentDecoder(nn.Module):
    """e_t is the embedding of the word read at step t, h are the encoder's states, feed is f_{t-1} or nothing.

    placement "input" (Bahdanau)                placement "output" (Luong)

        c_t = attend(s_{t-1}, h)                    s_t = cell([e_t; feed], s_{t-1})
        s_t = cell([e_t; c_t; feed], s_{t-1})       c_t = attend(s_t, h)
        f_t = readout(s_t, c_t, e_t)                f_t = readout(s_t, c_t, e_t)

    readout_state "previous" (input only): f_t = readout(s_{t-1}, c_t, e_t)
    """

    def __init__(
        self, config: RecurrentConfig, embedding: nn.Embedding, vocabulary: int, trust: Collection[str] = ()
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.layer_dropout = nn.Dropout(config.dropout)
        self.attention: Attention = build_attention(
            config.score,
            config.window,
            query_width=config.decoder_units,
            state_width=config.state_width,
            width=config.scoring_width,
            bias=config.attention_bias,
            heads=config.heads,
            reach=config.reach,
            bidirectional=config.bidirectional,
            trust=trust,
        )
        self.readout = Readout(config, self.attention.value_width, vocabulary)
        self.context_width = self.attention.value_width if config.placement == "input" else 0
        self.feed_width = self.readout.width if config.input_feeding else 0
        self.reads_previous = config.readout_state == "previous"
        self.recurrence = RECURRENCES[config.cell](
            config.embedding + self.context_width + self.feed_width,
            config.decoder_units,
            num_layers=config.decoder_layers,
            dropout=config.dropout if config.decoder_layers > 1 else 0.0,
        )
        self.bridge = Bridge(config)

    def start(self, encoded: Encoded) -> RecurrentState:
        """The state before the first word: s_0, nothing fed yet, and the keys projected once."""
        hidden, cell = self.bridge(encoded.hidden, encoded.cell)
        return RecurrentState(
            memory=self.attention.prepare(encoded.states, encoded.real),
            hidden=hidden.unbind(0),
            cell=None if cell is None else cell.unbind(0),
            feed=hidden.new_zeros(hidden.size(1), self.feed_width) if self.feed_width else None,
        )

    def step(
        self,
        tokens: Int[Tensor, " rows"],
        state: RecurrentState,
        *,
        weights: Float[Tensor, "rows layer head source"] | None = None,
        trace: bool = False,
    ) -> Step:
        """One step; `weights` replaces the computed attention weights."""
        (given,) = given_weights(weights, 1)
        now = self.advance(self.embed(tokens), state, self.layer_masks(1, state)[0], weights=given, trace=trace)
        seen = now.attended.weights
        return Step(
            logits=self.readout(now.features),
            state=now.state,
            weights=None if seen is None else seen[:, None, :, 0],
            trace=(now.attended.trace,) if trace else (),
        )

    def forward(
        self,
        tokens: Int[Tensor, "batch target"],
        state: RecurrentState,
        *,
        forced: Bool[Tensor, " target"] | None = None,
        want_weights: bool = False,
    ) -> Decoded:
        """All steps; where `forced[t]` is False the decoder reads its own best word instead of tokens[:, t].

        The first word (BOS) is always read as given.
        """
        own = () if forced is None else tuple(t for t, given in enumerate(forced.tolist()) if t and not given)
        known = not self.context_width or type(self.attention) is NoAttention
        parallel = known and not (self.feed_width or self.reads_previous or own)
        decoded = decode_parallel(self, tokens, state) if parallel else decode(self, tokens, state, own)
        return decoded if want_weights else replace(decoded, weights=None)

    def advance(
        self,
        embedded: Float[Tensor, "rows embedding"],
        state: RecurrentState,
        mask: Float[Tensor, "between rows units"] | None = None,
        *,
        weights: Float[Tensor, "rows head 1 source"] | None = None,
        trace: bool = False,
    ) -> AdvancedStep:
        """One step of the equations above; `mask` is the dropout between layers."""
        inputs, attended = [embedded], None
        if self.context_width:
            query = state.hidden[-1][:, None]
            attended = look(self.attention, query, state.memory, state.position, weights=weights, trace=trace)
            inputs.append(attended.context[:, 0])
        if state.feed is not None:
            inputs.append(state.feed)
        hidden, cell = advance_cells(self.recurrence, torch.cat(inputs, dim=-1), state.hidden, state.cell, mask)
        if attended is None:
            query = hidden[-1][:, None]
            attended = look(self.attention, query, state.memory, state.position, weights=weights, trace=trace)
        shown = state.hidden[-1] if self.reads_previous else hidden[-1]
        features = self.readout.features(shown, attended.context[:, 0], embedded)
        feed = features if self.feed_width else None
        memory = attended.memory or state.memory
        after = replace(state, memory=memory, hidden=hidden, cell=cell, feed=feed, position=state.position + 1)
        return AdvancedStep(hidden[-1], attended, features, after)

    def embed(self, tokens: Int[Tensor, "*rows"]) -> Float[Tensor, "*rows embedding"]:
        embedded: Tensor = self.embedding_dropout(self.embedding(tokens))
        return embedded

    def layer_masks(self, steps: int, state: RecurrentState) -> list[Tensor | None]:
        """The dropout between layers, drawn for all steps at once; None if nothing is dropped."""
        between, hidden = self.recurrence.num_layers - 1, state.hidden[0]
        if not (self.training and self.layer_dropout.p and between):
            return [None] * steps
        return list(self.layer_dropout(hidden.new_ones(steps, between, *hidden.shape)).unbind(0))


@replaceable
def look(
    attention: Attention,
    query: Float[Tensor, "rows target query"],
    memory: Memory,
    position: int,
    *,
    weights: Float[Tensor, "rows head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """c_t and its weights: attention over the source."""
    return attention(query, memory, position, weights=weights, trace=trace)


@replaceable
def decode(
    decoder: RecurrentDecoder, tokens: Int[Tensor, "batch target"], state: RecurrentState, own: Collection[int] = ()
) -> Decoded:
    """The step loop; at the steps in `own` the decoder reads its own best word."""
    words = list(decoder.embed(tokens.T).unbind(0))
    steps: list[AdvancedStep] = []
    for t, mask in enumerate(decoder.layer_masks(len(words), state)):
        if t in own:
            with torch.no_grad():
                best = decoder.readout.output(steps[-1].features).argmax(dim=-1)
            words[t] = decoder.embed(best)
        steps.append(decoder.advance(words[t], state, mask))
        state = steps[-1].state
    weights = [step.attended.weights for step in steps if step.attended.weights is not None]
    return Decoded(
        features=torch.stack([step.features for step in steps], dim=1),
        weights=torch.cat(weights, dim=2)[:, None] if weights else None,
        states=torch.stack([step.output for step in steps], dim=1),
    )


def decode_parallel(decoder: RecurrentDecoder, tokens: Int[Tensor, "batch target"], state: RecurrentState) -> Decoded:
    """All steps in one call of torch's recurrence, then attention; only a fixed vector may enter the recurrence."""
    inputs = embedded = decoder.embed(tokens)
    if decoder.context_width:
        inputs = torch.cat([embedded, state.memory.values.expand(-1, embedded.size(1), -1)], dim=-1)
    hidden = torch.stack(state.hidden)
    first = hidden if state.cell is None else (hidden, torch.stack(state.cell))
    outputs = decoder.recurrence(inputs.transpose(0, 1), first)[0].transpose(0, 1)
    attended = look(decoder.attention, outputs, state.memory, state.position)
    weights = None if attended.weights is None else attended.weights[:, None]
    return Decoded(decoder.readout.features(outputs, attended.context, embedded), weights, states=outputs)
