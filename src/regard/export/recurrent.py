"""Recurrent models as two graphs: the encoder with the decoder's first state, and one step of the decoder."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from torch import nn

from regard.export.attention import (
    AttendedNames,
    choose_weights,
    look,
    multi_head_step,
    only_real,
    prepare_keys,
    prepare_multi_head,
    real_positions,
    single_head_step,
)
from regard.export.graph import BOOLEAN, FLOAT, INTEGER, Dimensions, Graph
from regard.export.graph_state import State, begin, finish, given_weights, read_state, write_state
from regard.export.recurrence import Recurrence
from regard.models.model_config import RecurrentConfig
from regard.models.seq2seq import Seq2Seq


def build_encoder(graph: Graph, model: Seq2Seq) -> State:
    """Reads `source` [batch, source] and `source_lengths` [batch]; outputs the state before the first step."""
    config, decoder = model.config, cast(Any, model.decoder)
    assert isinstance(config, RecurrentConfig)
    source = graph.input("source", INTEGER, ["batch", "source"])
    lengths = graph.input("source_lengths", INTEGER, ["batch"])
    real = real_positions(graph, source, lengths)
    states, finals = _read(graph, config, model.encoder, source, lengths, real)
    state: State = {}
    if config.score == "none":
        state["summary"] = graph("Concat", *finals["hidden"][-1], axis=1), FLOAT, [config.state_width]
    else:
        state |= _memory(graph, config, decoder.attention, only_real(graph, states, real), real)
    rows = graph.size(source, 0)
    for kind, project in (("hidden", decoder.bridge.hidden), ("cell", decoder.bridge.cell))[: len(finals)]:
        for layer, first in enumerate(_first_states(graph, config, finals[kind], project, rows)):
            state[f"{kind}_{layer}"] = first, FLOAT, [config.decoder_units]
    if decoder.feed_width:
        state["feed"] = graph.zeros(rows, decoder.feed_width), FLOAT, [decoder.feed_width]
    state |= begin(graph, rows, weighs=config.score != "none")
    write_state(graph, state)
    return state


def _read(
    graph: Graph, config: RecurrentConfig, encoder: Any, source: str, lengths: str, real: str
) -> tuple[str, dict[str, list[list[str]]]]:
    """States [batch, source, state], and the final states of each layer and direction: hidden, and cell of an LSTM."""
    # An empty sentence is read as one word; its final states are replaced by zeros below.
    counted = graph("Max", lengths, graph.constant(1, np.int64))
    last = graph("Unsqueeze", graph("Sub", counted, graph.constant(1, np.int64)), graph.integers(1))
    spoken = graph("Unsqueeze", graph("Greater", lengths, graph.constant(0, np.int64)), graph.integers(1))
    keep, padding = config.cell == "lstm" and config.initial != "zero", ""
    states = graph.look_up(encoder.embedding.weight, source)
    if keep:
        padding = graph("Cast", graph("Not", graph("Unsqueeze", real, graph.integers(2))), to=FLOAT)
        padding = graph("Transpose", padding, perm=[1, 0, 2])
    finals: dict[str, list[list[str]]] = {"hidden": []} if config.cell != "lstm" else {"hidden": [], "cell": []}
    for layer in range(config.encoder_layers):
        states = only_real(graph, states, real) if keep else states
        inputs, both = graph("Transpose", states, perm=[1, 0, 2]), []
        for ended in finals.values():
            ended.append([])
        for direction in ("", "_reverse")[: encoder.directions]:
            recurrence = Recurrence(
                graph, config.cell, encoder.recurrence, f"l{layer}{direction}", "encoder.recurrence"
            )
            turn = partial(graph, "ReverseSequence", batch_axis=1, time_axis=0)
            read = turn(inputs, counted) if direction else inputs
            seen, cell = recurrence.run(read, padding)
            by_row = graph("Transpose", seen, perm=[1, 0, 2])
            hidden = graph("GatherND", by_row, last, batch_dims=1)
            for ended, value in zip(finals.values(), (hidden, cell), strict=False):
                ended[-1].append(graph("Where", spoken, value, graph.constant(0.0)))
            both.append(graph("Transpose", turn(seen, counted), perm=[1, 0, 2]) if direction else by_row)
        states = both[0] if len(both) == 1 else graph("Concat", *both, axis=2)
    return states, finals


def _memory(graph: Graph, config: RecurrentConfig, attention: Any, states: str, real: str) -> State:
    state: State = {"real": (real, BOOLEAN, ["source"])}
    if config.score == "multi-head":
        keys, values = prepare_multi_head(graph, attention, states)
        part = config.scoring_width // config.heads
        axes: Dimensions = [config.heads, "source", part]
        return {**state, "keys": (keys, FLOAT, axes), "values": (values, FLOAT, axes)}
    found = prepare_keys(graph, config.score, attention, states)
    if found is not None:
        width = config.decoder_units if config.score == "general" else config.scoring_width
        state["keys"] = found, FLOAT, ["source", width]
    return {**state, "values": (states, FLOAT, ["source", config.state_width])}


def _first_states(
    graph: Graph, config: RecurrentConfig, finals: list[list[str]], project: nn.Linear | None, rows: str
) -> list[str]:
    """`models/rnn/bridge.py`: s_0 of every layer."""
    units = config.decoder_units
    if config.initial == "zero":
        return [graph.zeros(rows, units)] * config.decoder_layers
    if config.initial == "sum":
        return [graph("Sum", *layer) for layer in finals]
    if config.initial == "last":
        return [graph("Concat", *layer, axis=1) for layer in finals]
    assert project is not None
    top = finals[-1][-1] if config.initial == "backward" else graph("Concat", *finals[-1], axis=1)
    first = graph("Tanh", graph.linear(top, project.weight, project.bias))
    if config.decoder_layers == 1:
        return [first]
    return graph.several("Split", config.decoder_layers, first, axis=1, num_outputs=config.decoder_layers)


def build_step(graph: Graph, model: Seq2Seq, state: State, *, trace: bool) -> None:
    """Reads `tokens` [rows] and the state; outputs logits, weights, the state after the step, and the trace."""
    config, decoder = model.config, cast(Any, model.decoder)
    assert isinstance(config, RecurrentConfig)
    tokens = graph.input("tokens", INTEGER, ["rows"])
    read_state(graph, state)
    embedded = graph.look_up(decoder.embedding.weight, tokens)
    hidden = [f"hidden_{layer}" for layer in range(config.decoder_layers)]
    cell = [f"cell_{layer}" for layer in range(config.decoder_layers)] if config.cell == "lstm" else []
    attend = partial(_attend, graph, config, decoder.attention, state)
    attended = attend(hidden[-1]) if config.placement == "input" else None
    fed = ["feed"] if decoder.feed_width else []
    inputs = [embedded, *([] if attended is None else [attended.context]), *fed]
    x = inputs[0] if len(inputs) == 1 else graph("Concat", *inputs, axis=1)
    new: dict[str, str] = {}
    for layer, before in enumerate(hidden):
        recurrence = Recurrence(graph, config.cell, decoder.recurrence, f"l{layer}", "decoder.recurrence")
        x, after = recurrence.step(graph, recurrence.project(x), before, cell[layer] if cell else "")
        new[before] = x
        if cell:
            new[cell[layer]] = after
    attended = attend(x) if attended is None else attended
    shown = hidden[-1] if decoder.reads_previous else x
    features = _features(graph, config, decoder.readout, shown, attended.context, embedded)
    if fed:
        new["feed"] = features
    output = decoder.readout.output
    logits = graph.linear(features, output.weight, output.bias)
    graph.output("logits", logits, FLOAT, ["rows", output.out_features])
    finish(graph, state, new, [attended] if config.score != "none" else [], trace=trace)


def _attend(graph: Graph, config: RecurrentConfig, attention: Any, state: State, query: str) -> AttendedNames:
    if config.score == "none":
        return AttendedNames("summary", "", "", query)
    mask, gaussian, center = look(graph, config.window, attention.window, query, "real", "position")
    (given,) = given_weights(graph, 1)
    weigh = partial(choose_weights, graph, mask=mask, gaussian=gaussian, given=given)
    if config.score == "multi-head":
        attended = multi_head_step(graph, attention, query, "keys", "values", weigh)
    else:
        keys = "keys" if "keys" in state else "values"
        attended = single_head_step(graph, config.score, attention, query, keys, "values", weigh)
    return replace(attended, center=center)


def _features(graph: Graph, config: RecurrentConfig, readout: Any, state: str, context: str, embedded: str) -> str:
    """`models/rnn/readout.py`: the input of the output layer."""
    if config.readout == "state-context":
        return graph("Concat", state, context, axis=1)
    if config.readout == "state-context-embedding":
        return graph("Concat", state, context, embedded, axis=1)
    weight = readout.combine.weight
    if config.readout == "attentional":
        return graph("Tanh", graph.linear(graph("Concat", context, state, axis=1), weight))
    pairs = graph.linear(graph("Concat", state, context, embedded, axis=1), weight, readout.combine.bias)
    pairs = graph("Reshape", pairs, graph.integers(-1, readout.width, 2))
    return graph("ReduceMax", pairs, graph.integers(2), keepdims=0)
