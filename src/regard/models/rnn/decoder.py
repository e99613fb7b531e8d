"""The writer: a recurrent decoder that looks at the memory before (Bahdanau) or after (Luong) its recurrence."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.additive.module import BahdanauAttention
from regard.attention.build import build_attention
from regard.attention.deferred import Opened, opened
from regard.attention.none.module import NoAttention
from regard.attention.plain import plain_wanted
from regard.attention.protocol import Attended, Attention, Memory
from regard.attention.sharing import look
from regard.attention.window import GlobalWindow
from regard.models.config import RecurrentConfig
from regard.models.custom import ours, watched
from regard.models.lookup import look_up
from regard.models.product import add_product, packable, product, unpacked_wanted
from regard.models.rnn.bridge import Bridge
from regard.models.rnn.cells import Layer, packed_layers, ready, recur
from regard.models.rnn.encoder import Encoded
from regard.models.rnn.fused.loop import walk_replayed
from regard.models.rnn.fused.product import linear
from regard.models.rnn.moment import Moment, gathered
from regard.models.rnn.readout import Readout
from regard.models.rnn.recurrence import attend_and_recur
from regard.models.rnn.state import RecurrentState
from regard.models.rnn.walk import walk
from regard.models.rnn.word_table import by_table, drops_nothing, table_pays
from regard.models.step import Decoded, Step, given_weights


class RecurrentDecoder(nn.Module):
    """placement `input`: query s_{t-1}, the context enters the recurrence; `output`: query s_t, it meets the readout.

    The first layer's input product W [e; c; feed] is split by columns: W_e e is known before the loop and is one
    product for all steps; W_c c and W_f feed are added inside it.
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
            heads=config.heads,
            reach=config.reach,
            bidirectional=config.bidirectional,
            trust=trust,
        )
        self.readout = Readout(config, self.attention.value_width, vocabulary)
        self.context_width = self.attention.value_width if config.placement == "input" else 0
        self.feed_width = self.readout.width if config.input_feeding else 0
        recurrence = nn.GRU if config.cell == "gru" else nn.LSTM
        self.recurrence = recurrence(
            config.embedding + self.context_width + self.feed_width,
            config.decoder_units,
            num_layers=config.decoder_layers,
            dropout=config.dropout if config.decoder_layers > 1 else 0.0,
        )
        self.bridge = Bridge(config)
        self._packed: tuple[Layer, ...] | None = None

    def pack(self) -> None:
        """Keep packed copies of the recurrence's weights for `step`; whoever calls it promises not to change them."""
        self._packed = packed_layers(self._layers())

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: packed weights can be neither, and are packed again wherever that is possible."""
        return {**self.__dict__, "_packed": self._packed is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "_packed": None})  # type: ignore[no-untyped-call]
        if state["_packed"] and any(packable(x) for x in self.recurrence.parameters() if x.ndim == 2):
            self.pack()

    def start(self, encoded: Encoded) -> RecurrentState:
        """The state before the first word: s_0, nothing fed yet, and the memory made ready once."""
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
        (given,), embedded = given_weights(weights, 1), self._embed(tokens)
        layers = self._layers() if self._packed is None or unpacked_wanted(embedded) else self._packed
        gates, dropped = self._gates(embedded, layers), self._dropped(1, state.hidden[0])
        moment = self._advance(
            gates, embedded, state, layers, None if dropped is None else dropped[0], weights=given, trace=trace
        )
        seen = moment.attended.weights
        return Step(
            logits=self.readout(self._features(moment, embedded)),
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
        """All steps; where `forced[t]` is False the decoder reads its own best word instead of tokens[:, t].

        The first word (BOS) is always read as it is given.
        """
        if state.owners is not None:  # after `select`: rows that shared a sentence get one each
            state = replace(state, memory=state.owners.spread(state.memory), owners=None)
        own = [] if forced is None else [t for t, given in enumerate(forced.tolist()) if t and not given]
        known = not self.context_width or type(self.attention) is NoAttention
        if known and not self.feed_width and not own:
            return self._at_once(tokens, state, want_weights)
        if not own and self._fits_one_operation(state):
            return self._in_one_operation(tokens, state, want_weights)
        if not own:
            return self._word_for_word(tokens, state, want_weights)
        return self._reading_itself(tokens, state, own, want_weights)

    def _reading_itself(self, tokens: Tensor, state: RecurrentState, own: list[int], want_weights: bool) -> Decoded:
        """The step loop where the words of the steps `own` are not known before."""
        layers, embedded = self._layers(), self._embed(tokens.T)
        gates, words = list(self._gates(embedded, layers).unbind(0)), list(embedded.unbind(0))
        dropped = self._dropped(len(words), state.hidden[0])
        moments: list[Moment] = []
        for t in range(len(words)):
            if t in own:
                words[t] = self._embed(self._best_word(moments[-1], words[t - 1]))
                gates[t] = self._gates(words[t], layers)
            moments.append(self._advance(gates[t], words[t], state, layers, None if dropped is None else dropped[t]))
            state = moments[-1].state
        return self._decoded(gathered(moments), torch.stack(words, dim=1), want_weights)

    def _word_for_word(self, tokens: Tensor, state: RecurrentState, want_weights: bool) -> Decoded:
        """The step loop over given words; on a GPU from CUDA graphs."""
        embedded = self._embed(tokens.T)
        given = (
            self._all_gates(tokens.T, embedded, self._layers()), torch.stack(state.hidden),
            None if state.cell is None else torch.stack(state.cell), state.feed,
            state.memory.keys, state.memory.values, state.memory.real, self._dropped(len(embedded), state.hidden[0]),
        )  # fmt: skip
        fast = torch.is_grad_enabled() and not (plain_wanted() or torch.compiler.is_compiling())
        if fast and self._may_be_replayed(state):
            found = walk_replayed(self, self._inside(), given)
        elif fast and len(embedded) > 1 and not self._seen_inside():
            found = walk(self, self._inside(), given, state.position)
        else:
            found = self.walk(*given, state.position)
        return self._decoded(found, embedded.transpose(0, 1), want_weights)

    def _decoded(self, found: tuple[Tensor, ...], words: Tensor, want_weights: bool) -> Decoded:
        outputs, contexts, *others = found
        features = others.pop() if self.feed_width else self.readout.features(outputs, contexts, words)
        return Decoded(features, others[0][:, None] if others and want_weights else None, states=outputs)

    def _inside(self) -> dict[str, Tensor]:
        """The parameters that the step loop multiplies with; `functional_call` may have put any tensors there."""
        inside = ("attention.", "recurrence.", "readout.combine.")
        return {name: x for name, x in self.named_parameters() if name.startswith(inside)}

    def _may_be_replayed(self, state: RecurrentState) -> bool:
        """Whether the step loop launches the same work every time: our attention, on a GPU, nothing random in it."""
        known = ours(self.attention) and type(self.attention) is not NoAttention
        still = not (self.training and getattr(self.attention, "dropout", None))
        fresh = state.position == 0 and state.memory.keys.numel() > 0
        return state.hidden[0].device.type == "cuda" and known and still and fresh and not self._seen_inside()

    def _seen_inside(self) -> bool:
        """Whether somebody watches what the step loop calls: then it must be these modules, and not doubles of them."""
        return watched(self.attention) or watched(self.readout.combine)

    def walk(
        self,
        gates: Float[Tensor, "target batch gates"],
        hidden: Float[Tensor, "layer batch units"],
        cell: Float[Tensor, "layer batch units"] | None,
        feed: Float[Tensor, "batch feed"] | None,
        keys: Float[Tensor, "batch *head source key"],
        values: Float[Tensor, "batch *head source value"],
        real: Bool[Tensor, "batch source"],
        dropped: Float[Tensor, "target between batch units"] | None,
        position: int = 0,
    ) -> tuple[Tensor, ...]:
        """All steps over given words as a function of tensors; see `gathered`."""
        cells = None if cell is None else cell.unbind(0)
        layers, moments = self._layers(), []
        if type(layers[0].recurrent) is Opened:
            keys, values = opened(keys), opened(values)
        state = RecurrentState(Memory(keys, values, real), hidden.unbind(0), cells, feed, position)
        for t, step in enumerate(gates.unbind(0)):
            # Features that are fed, Luong's, do not look at the word; the others are computed after the loop.
            moments.append(self._advance(step, step, state, layers, None if dropped is None else dropped[t]))
            state = moments[-1].state
        return gathered(moments)

    def _dropped(self, steps: int, hidden: Tensor) -> Tensor | None:
        """What multiplies the states between layers, drawn for all steps at once; None: nothing is dropped."""
        between = self.recurrence.num_layers - 1
        if not (self.training and self.layer_dropout.p and between):
            return None
        dropped: Tensor = self.layer_dropout(hidden.new_ones(steps, between, *hidden.shape))
        return dropped

    def _at_once(self, tokens: Tensor, state: RecurrentState, want_weights: bool) -> Decoded:
        """What enters the recurrence is known beforehand: one library call, then attention over all steps.

        Either no context returns to it, or the context is one fixed vector.
        """
        inputs = embedded = self._embed(tokens)
        if self.context_width:
            inputs = torch.cat([embedded, state.memory.values.expand(-1, embedded.size(1), -1)], dim=-1)
        hidden = torch.stack(state.hidden)
        first = hidden if state.cell is None else (hidden, torch.stack(state.cell))
        outputs = self.recurrence(inputs.transpose(0, 1), first)[0].transpose(0, 1)
        attended = self.attention(outputs, state.memory, state.position)
        weights = None if attended.weights is None or not want_weights else attended.weights[:, None]
        return Decoded(self.readout.features(outputs, attended.context, embedded), weights, states=outputs)

    def _fits_one_operation(self, state: RecurrentState) -> bool:
        """Whether the recurrence with the hand-written backward pass computes just what the step loop would."""
        attention = self.attention
        return (  # type, not isinstance: a subclass may compute something else
            not (plain_wanted() or watched(self.attention))
            and not (torch.compiler.is_compiling() and state.hidden[0].device.type == "cpu")  # see cells.py
            and type(attention) is BahdanauAttention
            and type(attention.window) is GlobalWindow
            and not (attention.dropout and attention.training)
            and bool(self.context_width)
            and not self.feed_width
            and len(state.hidden) == 1
            and state.memory.keys.numel() > 0
        )

    def _in_one_operation(self, tokens: Tensor, state: RecurrentState, want_weights: bool) -> Decoded:
        """Additive attention at the input of one layer: all steps and their gradients in one differentiable call."""
        assert isinstance(self.attention, BahdanauAttention)
        (layer,), embedded = self._layers(), self._embed(tokens.T)
        bias = torch.zeros_like(layer.bias) if layer.recurrent_bias is None else layer.recurrent_bias
        states, contexts, weights = attend_and_recur(
            self._all_gates(tokens.T, embedded, (layer,)),
            state.hidden[0], None if state.cell is None else state.cell[0],
            state.memory.keys, state.memory.values, state.memory.real,
            self.attention.W_s, self.attention.v, layer.inputs[1], layer.recurrent, bias,
        )  # fmt: skip
        outputs = states.transpose(0, 1)
        features = self.readout.features(outputs, contexts.transpose(0, 1), embedded.transpose(0, 1))
        return Decoded(features, weights.permute(1, 0, 2)[:, None, None] if want_weights else None, states=outputs)

    def _advance(
        self,
        gates: Tensor,
        embedded: Tensor,
        state: RecurrentState,
        layers: tuple[Layer, ...],
        dropped: Tensor | None,
        *,
        weights: Tensor | None = None,
        trace: bool = False,
    ) -> Moment:
        _, context_columns, feed_columns = layers[0].inputs
        attended = None
        if state.feed is not None:
            gates = add_product(gates, state.feed, feed_columns)
        if self.context_width:
            attended = self._look(state.hidden[-1], state, weights, trace)
            gates = add_product(gates, attended.context[:, 0], context_columns)
        hidden, cell = recur(gates, state.hidden, state.cell, layers, dropped)
        if attended is None:
            attended = self._look(hidden[-1], state, weights, trace)
        features = None
        if self.feed_width:
            features = self.readout.features(hidden[-1], attended.context[:, 0], embedded)
        after = replace(state, hidden=hidden, cell=cell, feed=features, position=state.position + 1)
        return Moment(hidden[-1], attended, features, after)

    def _look(self, query: Tensor, state: RecurrentState, weights: Tensor | None, trace: bool) -> Attended:
        memory, owners = state.memory, state.owners
        return look(self.attention, query[:, None], memory, owners, state.position, weights=weights, trace=trace)

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.embedding_dropout(look_up(self.embedding, tokens))
        return embedded

    def _layers(self) -> tuple[Layer, ...]:
        return ready(self.recurrence, (self.embedding.embedding_dim, self.context_width, self.feed_width))

    def _gates(self, embedded: Tensor, layers: tuple[Layer, ...]) -> Tensor:
        """W_e e + b, the part of the first layer's input product that needs no context."""
        weight = layers[0].inputs[0]
        return (product if weight.is_mkldnn else linear)(embedded, weight, layers[0].bias)

    def _all_gates(self, tokens: Tensor, embedded: Tensor, layers: tuple[Layer, ...]) -> Tensor:
        if table_pays(self.embedding, tokens) and drops_nothing(self.embedding_dropout):
            return by_table(self.embedding, tokens, layers[0].inputs[0], layers[0].bias)
        return self._gates(embedded, layers)

    def _features(self, moment: Moment, embedded: Tensor) -> Tensor:
        if moment.features is not None:
            return moment.features
        return self.readout.features(moment.output, moment.attended.context[:, 0], embedded)

    @torch.no_grad()
    def _best_word(self, moment: Moment, embedded: Tensor) -> Tensor:
        logits: Tensor = self.readout.output(self._features(moment, embedded))
        return logits.argmax(dim=-1)
