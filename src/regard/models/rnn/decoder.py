"""The writer: a recurrent decoder that looks at the memory before (Bahdanau) or after (Luong) its recurrence."""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.build import build_attention
from regard.attention.protocol import Attended, Attention, Memory
from regard.models.config import RecurrentConfig
from regard.models.rnn.bridge import Bridge
from regard.models.rnn.cells import gru_step, lstm_step
from regard.models.rnn.encoder import Encoded
from regard.models.rnn.readout import Readout
from regard.models.step import Decoded, Step


@dataclass(frozen=True)
class RecurrentState:
    """The recurrence's layers, the vector that input feeding feeds, and the memory they look at."""

    memory: Memory
    hidden: tuple[Float[Tensor, "batch units"], ...]
    cell: tuple[Float[Tensor, "batch units"], ...] | None
    feed: Float[Tensor, "batch feed"] | None
    position: int = 0

    def select(self, rows: Int[Tensor, " rows"]) -> "RecurrentState":
        return replace(
            self,
            memory=self.memory.select(rows),
            hidden=tuple(layer[rows] for layer in self.hidden),
            cell=None if self.cell is None else tuple(layer[rows] for layer in self.cell),
            feed=None if self.feed is None else self.feed[rows],
        )


@dataclass(frozen=True)
class _Moment:
    """What one pass through the recurrence leaves behind."""

    output: Tensor
    attended: Attended
    features: Tensor | None
    state: RecurrentState


@dataclass(frozen=True)
class _Columns:
    """The first layer's input weights, cut by what they multiply; cut once, or autograd pays for every cut."""

    embedding: Tensor
    context: Tensor | None
    feed: Tensor | None


class RecurrentDecoder(nn.Module):
    """placement `input`: query s_{t-1}, the context enters the recurrence; `output`: query s_t, it meets the readout.

    The first layer's input product W [e; c; feed] is split by columns: W_e e is known before the loop and is one
    product for all steps; W_c c and W_f feed are added inside it.
    """

    def __init__(self, config: RecurrentConfig, embedding: nn.Embedding, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.layer_dropout = nn.Dropout(config.dropout)
        self.attention: Attention = build_attention(
            config.score,
            config.window,
            query_width=config.decoder_units,
            state_width=config.state_width,
            width=config.attention_width or config.decoder_units,
            heads=config.heads,
            reach=config.reach,
            bidirectional=config.bidirectional,
        )
        context_width = self.attention.value_width
        self.readout = Readout(config, context_width, vocabulary)
        self.at_input = config.placement == "input"
        self.feed_width = self.readout.width if config.input_feeding else 0
        recurrence = nn.GRU if config.cell == "gru" else nn.LSTM
        self.recurrence = recurrence(
            config.embedding + (context_width if self.at_input else 0) + self.feed_width,
            config.decoder_units,
            num_layers=config.decoder_layers,
            dropout=config.dropout if config.decoder_layers > 1 else 0.0,
        )
        self.bridge = Bridge(config)

    def start(self, encoded: Encoded) -> RecurrentState:
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
        """One word further; `weights` replaces what attention would have computed."""
        embedded = self._embed(tokens)
        given = None if weights is None else weights[:, 0, :, None]
        columns = self._columns()
        gates = self._input_gates(embedded, columns)
        moment = self._advance(gates, embedded, state, columns, weights=given, trace=trace)
        features = self._features(moment, embedded)
        seen = moment.attended.weights
        return Step(
            logits=self.readout(features),
            state=moment.state,
            weights=None if seen is None else seen[:, None, :, 0],
            trace=(moment.attended.trace,) if trace else (),
        )

    def forward(
        self,
        tokens: Int[Tensor, "batch target"],
        state: RecurrentState,
        *,
        forced: Bool[Tensor, " target"] | None = None,
        want_weights: bool = False,
    ) -> Decoded:
        """All steps; where `forced[t]` is False the decoder reads its own best word instead of tokens[:, t]."""
        free = forced is not None and not bool(forced.all())
        if not self.at_input and not self.feed_width and not free:
            return self._at_once(tokens, state, want_weights)
        columns = self._columns()
        embedded = self._embed(tokens.T)
        gates = self._input_gates(embedded, columns).unbind(0)
        rows = list(embedded.unbind(0))
        outputs, contexts, features, seen = [], [], [], []
        for t in range(len(rows)):
            gate = gates[t]
            if free and forced is not None and t > 0 and not bool(forced[t]):
                rows[t] = self._embed(self._best_word(moment, rows[t - 1]))
                gate = self._input_gates(rows[t], columns)
            moment = self._advance(gate, rows[t], state, columns)
            state = moment.state
            outputs.append(moment.output)
            contexts.append(moment.attended.context[:, 0])
            if moment.features is not None:
                features.append(moment.features)
            if want_weights and moment.attended.weights is not None:
                seen.append(moment.attended.weights)
        if features:
            together = torch.stack(features, dim=1)
        else:
            words = torch.stack(rows, dim=1)
            together = self.readout.features(torch.stack(outputs, dim=1), torch.stack(contexts, dim=1), words)
        return Decoded(together, torch.cat(seen, dim=2)[:, None] if seen else None)

    def _at_once(self, tokens: Tensor, state: RecurrentState, want_weights: bool) -> Decoded:
        """Nothing of the context returns to the recurrence: one library call, then attention over all steps."""
        embedded = self._embed(tokens)
        hidden = torch.stack(state.hidden)
        first = hidden if state.cell is None else (hidden, torch.stack(state.cell))
        outputs = self.recurrence(embedded.transpose(0, 1), first)[0].transpose(0, 1)
        attended = self.attention(outputs, state.memory, state.position)
        weights = attended.weights if want_weights else None
        return Decoded(
            self.readout.features(outputs, attended.context, embedded), None if weights is None else weights[:, None]
        )

    def _advance(
        self,
        gates: Tensor,
        embedded: Tensor,
        state: RecurrentState,
        columns: _Columns,
        *,
        weights: Tensor | None = None,
        trace: bool = False,
    ) -> _Moment:
        if columns.feed is not None and state.feed is not None:
            gates = gates + F.linear(state.feed, columns.feed)
        attended = None
        if columns.context is not None:
            attended = self._look(state.hidden[-1], state, weights, trace)
            gates = gates + F.linear(attended.context[:, 0], columns.context)
        hidden, cell = self._recur(gates, state)
        if attended is None:
            attended = self._look(hidden[-1], state, weights, trace)
        features = None
        if self.feed_width:
            features = self.readout.features(hidden[-1], attended.context[:, 0], embedded)
        after = replace(state, hidden=hidden, cell=cell, feed=features, position=state.position + 1)
        return _Moment(hidden[-1], attended, features, after)

    def _recur(self, gates: Tensor, state: RecurrentState) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...] | None]:
        recurrent, hidden, cell = self.recurrence, [], []
        for layer in range(self.config.decoder_layers):
            if layer:
                below = self.layer_dropout(hidden[-1])
                gates = F.linear(below, getattr(recurrent, f"weight_ih_l{layer}"), getattr(recurrent, f"bias_ih_l{layer}"))
            weight, bias = getattr(recurrent, f"weight_hh_l{layer}"), getattr(recurrent, f"bias_hh_l{layer}")
            if state.cell is None:
                hidden.append(gru_step(gates, state.hidden[layer], weight, bias))
            else:
                h, c = lstm_step(gates, state.hidden[layer], state.cell[layer], weight, bias)
                hidden.append(h)
                cell.append(c)
        return tuple(hidden), tuple(cell) if cell else None

    def _look(self, query: Tensor, state: RecurrentState, weights: Tensor | None, trace: bool) -> Attended:
        return self.attention(query[:, None], state.memory, state.position, weights=weights, trace=trace)

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.embedding_dropout(self.embedding(tokens))
        return embedded

    def _columns(self) -> _Columns:
        context = self.attention.value_width if self.at_input else 0
        parts = self.recurrence.weight_ih_l0.split([self.config.embedding, context, self.feed_width], dim=1)
        return _Columns(parts[0], parts[1] if context else None, parts[2] if self.feed_width else None)

    def _input_gates(self, embedded: Tensor, columns: _Columns) -> Tensor:
        return F.linear(embedded, columns.embedding, self.recurrence.bias_ih_l0)

    def _features(self, moment: _Moment, embedded: Tensor) -> Tensor:
        if moment.features is not None:
            return moment.features
        return self.readout.features(moment.output, moment.attended.context[:, 0], embedded)

    @torch.no_grad()
    def _best_word(self, moment: _Moment, embedded: Tensor) -> Tensor:
        return self.readout.output(self._features(moment, embedded)).argmax(dim=-1)
