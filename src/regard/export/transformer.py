"""Transformers as two graphs: the encoder with the projected source, and one step of the decoder with its cache."""

import math
from functools import partial
from typing import Any, cast

import torch

from regard.export.attention import (
    AttendedNames,
    choose_weights,
    masked_softmax,
    multi_head_step,
    only_real,
    prepare_multi_head,
    real_positions,
    split_heads,
)
from regard.export.graph import BOOLEAN, FLOAT, INTEGER, Dimensions, Graph
from regard.export.graph_state import WRITTEN, State, begin, finish, given_weights, read_state, write_state
from regard.models.model_config import TransformerConfig
from regard.models.seq2seq import Seq2Seq


def build_encoder(graph: Graph, model: Seq2Seq) -> State:
    """Reads `source` [batch, source] and `source_lengths` [batch]; outputs the state before the first step."""
    config = model.config
    encoder, decoder = cast(Any, model.encoder), cast(Any, model.decoder)
    assert isinstance(config, TransformerConfig)
    source = graph.input("source", INTEGER, ["batch", "source"])
    lengths = graph.input("source_lengths", INTEGER, ["batch"])
    real = real_positions(graph, source, lengths)
    places = graph.count_up(graph.size(source, 1))
    states = _place(graph, encoder.positions, graph.look_up(encoder.positions.embedding.weight, source), places)
    mask = graph("Unsqueeze", real, graph.integers(1, 2))
    for layer in encoder.layers:
        states = _encoder_layer(graph, layer, states, mask)
    states = only_real(graph, _norm(graph, encoder.norm, states), real)
    rows, part = graph.size(source, 0), config.width // config.heads
    state: State = {"real": (real, BOOLEAN, ["source"])}
    cache: Dimensions = [config.heads, WRITTEN, part]
    for number, layer in enumerate(decoder.layers):
        keys, values = prepare_multi_head(graph, layer.cross_attention, states)
        state[f"keys_{number}"] = keys, FLOAT, [config.heads, "source", part]
        state[f"values_{number}"] = values, FLOAT, [config.heads, "source", part]
        for kind in ("keys", "values"):
            state[f"written_{kind}_{number}"] = graph.zeros(rows, config.heads, 0, part), FLOAT, cache
    state |= begin(graph, rows, weighs=True)
    write_state(graph, state)
    return state


def build_step(graph: Graph, model: Seq2Seq, state: State, *, trace: bool) -> None:
    """Reads `tokens` [rows] and the state; outputs logits, weights, the state after the step, and the trace."""
    config, decoder = model.config, cast(Any, model.decoder)
    assert isinstance(config, TransformerConfig)
    tokens = graph.input("tokens", INTEGER, ["rows"])
    read_state(graph, state)
    x = _place(graph, decoder.positions, graph.look_up(decoder.positions.embedding.weight, tokens), "position")
    mask = graph("Unsqueeze", "real", graph.integers(1))
    new: dict[str, str] = {}
    attended: list[AttendedNames] = []
    for number, (layer, given) in enumerate(
        zip(decoder.layers, given_weights(graph, config.decoder_layers), strict=True)
    ):
        x = graph("Add", x, _self_attention(graph, layer, x, number, new))
        query = _norm(graph, layer.cross_norm, x)
        weigh = partial(choose_weights, graph, mask=mask, gaussian=None, given=given)
        crossed = multi_head_step(graph, layer.cross_attention, query, f"keys_{number}", f"values_{number}", weigh)
        attended.append(crossed)
        x = graph("Add", x, crossed.context)
        x = graph("Add", x, _feed_forward(graph, layer, x))
    output = decoder.readout.output
    logits = graph.linear(_norm(graph, decoder.norm, x), output.weight, output.bias)
    graph.output("logits", logits, FLOAT, ["rows", output.out_features])
    finish(graph, state, new, attended, trace=trace)


def _place(graph: Graph, positions: Any, embedded: str, places: str) -> str:
    """`models/transformer/layers.py`: embeddings times √width plus the vectors of their positions."""
    scaled = graph("Mul", embedded, graph.constant(positions.scale))
    if positions.learned is not None:
        return graph("Add", scaled, graph.look_up(positions.learned.weight, places))
    powers = torch.arange(0, positions.width, 2, dtype=torch.float32) / positions.width
    column = graph("Unsqueeze", graph("Cast", places, to=FLOAT), graph.integers(1))
    angles = graph("Div", column, graph.constant((10000.0**powers).numpy()))
    waves = [graph("Unsqueeze", graph(wave, angles), graph.integers(2)) for wave in ("Sin", "Cos")]
    pairs = graph("Concat", *waves, axis=2)
    return graph("Add", scaled, graph("Reshape", pairs, graph.integers(-1, positions.width)))


def _encoder_layer(graph: Graph, layer: Any, states: str, mask: str) -> str:
    attention = layer.attention
    normed = _norm(graph, layer.attention_norm, states)
    keys, values = prepare_multi_head(graph, attention, normed)
    query = graph.linear(normed, attention.W_q, attention.b_q)
    part = attention.W_q.shape[0] // attention.heads
    query = split_heads(graph, graph("Div", query, graph.constant(math.sqrt(part))), attention.heads)
    scores = graph("MatMul", query, graph("Transpose", keys, perm=[0, 1, 3, 2]))
    mixed = graph("MatMul", masked_softmax(graph, scores, mask), values)
    merged = graph("Reshape", graph("Transpose", mixed, perm=[0, 2, 1, 3]), graph.integers(0, 0, -1))
    context = graph.linear(merged, attention.W_o, attention.b_o)
    states = graph("Add", states, context)
    return graph("Add", states, _feed_forward(graph, layer, states))


def _self_attention(graph: Graph, layer: Any, x: str, number: int, new: dict[str, str]) -> str:
    """Attention of the new word to all written words, itself included; `new` receives the longer cache."""
    normed = _norm(graph, layer.self_norm, x)
    now = prepare_multi_head(graph, layer.self_attention, graph("Unsqueeze", normed, graph.integers(1)))
    for kind, value in zip(("keys", "values"), now, strict=True):
        name = f"written_{kind}_{number}"
        new[name] = graph("Concat", name, value, axis=2)
    keys, values = (new[f"written_{kind}_{number}"] for kind in ("keys", "values"))
    return multi_head_step(
        graph, layer.self_attention, normed, keys, values, partial(graph, "Softmax", axis=-1)
    ).context


def _feed_forward(graph: Graph, layer: Any, x: str) -> str:
    block = layer.feedforward
    normed = _norm(graph, layer.feedforward_norm, x)
    hidden = graph("Relu", graph.linear(normed, block.expand.weight, block.expand.bias))
    return graph.linear(hidden, block.contract.weight, block.contract.bias)


def _norm(graph: Graph, norm: Any, x: str) -> str:
    scale, bias = graph.parameter(norm.weight), graph.parameter(norm.bias)
    return graph("LayerNormalization", x, scale, bias, axis=-1, epsilon=norm.eps)
