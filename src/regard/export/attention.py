"""Attention as ONNX nodes: prepare the source once, then score, window, softmax and mix at every step."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.export.graph import FLOAT, Graph

LOWEST = float(np.finfo(np.float32).min)
SCORES_WITH_GRAPH = frozenset({"additive", "concat", "dot", "general", "multi-head", "none", "scaled-dot"})


@dataclass(frozen=True)
class AttendedNames:
    """The value names of one step: context [rows, value], weights and raw scores [rows, head, source]."""

    context: str
    weights: str
    scores: str
    query: str
    center: str = ""
    """Of a local window, [rows]."""


def masked_softmax(graph: Graph, scores: str, mask: str) -> str:
    """`regard.attention.masking.masked_softmax`: exact zeros where the mask is False."""
    bounded = graph("Clip", scores, graph.constant(LOWEST / 2), graph.constant(-LOWEST))
    weights = graph("Softmax", graph("Where", mask, bounded, graph.constant(LOWEST)), axis=-1)
    return graph("Where", mask, weights, graph.constant(0.0))


def split_heads(graph: Graph, projected: str, heads: int) -> str:
    """[batch, length, head · part] → [batch, head, length, part]."""
    parts = graph("Reshape", projected, graph.integers(0, 0, heads, -1))
    return graph("Transpose", parts, perm=[0, 2, 1, 3])


def prepare_multi_head(graph: Graph, attention: Any, states: str) -> tuple[str, str]:
    """Keys and values of all heads, [batch, head, source, part]."""
    keys = graph.linear(states, attention.W_k, attention.b_k)
    values = graph.linear(states, attention.W_v, attention.b_v)
    return split_heads(graph, keys, attention.heads), split_heads(graph, values, attention.heads)


def by_sentence(graph: Graph, value: str, keys: str, *sizes: str) -> str:
    """[rows, ...] → [sentence, rows of a sentence, *sizes]: rows of one sentence follow each other and share its keys.

    Keys with one row for each row of `value` are the case of one row a sentence.
    """
    return graph("Reshape", value, graph("Concat", graph.size(keys, 0), graph.integers(-1), *sizes, axis=0))


def by_row(graph: Graph, value: str, *sizes: str) -> str:
    """The inverse: [sentence, rows of a sentence, ...] → [rows, *sizes]."""
    return graph("Reshape", value, graph("Concat", graph.integers(-1), *sizes, axis=0))


def multi_head_step(
    graph: Graph, attention: Any, query: str, keys: str, values: str, weigh: Callable[[str], str]
) -> AttendedNames:
    """One step of all heads; `weigh` makes weights of the scores [rows, head, source]."""
    heads, part = attention.heads, attention.W_q.shape[0] // attention.heads
    across = graph.integers(heads), graph.size(keys, 2)
    projected = graph("Div", graph.linear(query, attention.W_q, attention.b_q), graph.constant(math.sqrt(part)))
    columns = graph("Transpose", by_sentence(graph, projected, keys, graph.integers(heads, part)), perm=[0, 2, 3, 1])
    scores = by_row(graph, graph("Transpose", graph("MatMul", keys, columns), perm=[0, 3, 1, 2]), *across)
    weights = weigh(scores)
    lines = graph("Transpose", by_sentence(graph, weights, keys, *across), perm=[0, 2, 1, 3])
    mixed = graph("Transpose", graph("MatMul", lines, values), perm=[0, 2, 1, 3])
    merged = graph("Reshape", mixed, graph.integers(-1, heads * part))
    return AttendedNames(graph.linear(merged, attention.W_o, attention.b_o), weights, scores, query)


def prepare_keys(graph: Graph, score: str, attention: Any, states: str) -> str | None:
    """The keys of a single-head mechanism, [batch, source, width]; None if they are the states themselves."""
    if score == "additive":
        return graph.linear(states, attention.W_h, attention.b)
    if score == "general":
        return graph.linear(states, attention.W_a)
    if score == "concat":
        name = "decoder.attention.W_a.states"
        return graph.linear(states, attention.W_a[:, attention.query_width :], name=name)
    return None


def single_head_step(
    graph: Graph, score: str, attention: Any, query: str, keys: str, values: str, weigh: Callable[[str], str]
) -> AttendedNames:
    """One step of a mechanism with one head."""
    if score in ("additive", "concat"):
        if score == "additive":
            W = attention.W_s
            projected = graph.linear(query, W)
        else:
            W = attention.W_a[:, : attention.query_width]
            projected = graph.linear(query, W, name="decoder.attention.W_a.query")
        projected = by_sentence(graph, projected, keys, graph.integers(1, len(W)))
        sums = graph("Add", projected, graph("Unsqueeze", keys, graph.integers(1)))
        lines = graph("Reshape", graph("Tanh", sums), graph.integers(-1, len(W)))
        scores = graph("MatMul", lines, graph("Unsqueeze", graph.parameter(attention.v), graph.integers(1)))
    else:
        columns = by_sentence(graph, query, keys, graph.integers(attention.query_width))
        if score == "scaled-dot":
            columns = graph("Div", columns, graph.constant(math.sqrt(attention.query_width)))
        products = graph("MatMul", keys, graph("Transpose", columns, perm=[0, 2, 1]))
        scores = graph("Transpose", products, perm=[0, 2, 1])
    scores = by_row(graph, scores, graph.integers(1), graph.size(keys, 1))
    weights = weigh(scores)
    mixed = graph("MatMul", by_sentence(graph, weights, keys, graph.size(keys, 1)), values)
    return AttendedNames(by_row(graph, mixed, graph.size(values, 2)), weights, scores, query)


def look(graph: Graph, kind: str, window: Any, query: str, real: str, position: str) -> tuple[str, str | None, str]:
    """The positions that a window lets a step see: the mask [rows, 1, source], local-p's Gaussian factor, and the
    centre [rows] of a local window.
    """
    mask = graph("Unsqueeze", real, graph.integers(1))
    if kind == "global":
        return mask, None, ""
    length = graph("ReduceSum", graph("Cast", real, to=FLOAT), graph.integers(1), keepdims=1)
    if kind == "local-m":
        step = graph("Unsqueeze", graph("Cast", position, to=FLOAT), graph.integers(1))
        last = graph("Max", graph("Sub", length, graph.constant(1.0)), graph.constant(0.0))
        center = graph("Min", step, last)
    else:
        hidden = graph("Tanh", graph.linear(query, window.W_p))
        share = graph("Sigmoid", graph("MatMul", hidden, graph.parameter(window.v_p)))
        center = graph("Mul", graph("Unsqueeze", share, graph.integers(1)), length)
    places = graph("Cast", graph.count_up(graph.size(real, 1)), to=FLOAT)
    distance = graph("Unsqueeze", graph("Sub", places, center), graph.integers(1))
    near = graph("LessOrEqual", graph("Abs", distance), graph.constant(float(window.reach)))
    mask, middle = graph("And", near, mask), graph("Squeeze", center, graph.integers(1))
    if kind == "local-m":
        return mask, None, middle
    spread = graph("Mul", graph("Mul", distance, distance), graph.constant(-1 / (2 * (window.reach / 2) ** 2)))
    return mask, graph("Exp", spread), middle


def choose_weights(graph: Graph, scores: str, mask: str, gaussian: str | None, given: str) -> str:
    """The softmax over the mask; a given weight that is not negative replaces the computed one."""
    weights = masked_softmax(graph, scores, mask)
    if gaussian is not None:
        weights = graph("Mul", weights, gaussian)
    return graph("Where", graph("Less", given, graph.constant(0.0)), weights, given)


def real_positions(graph: Graph, source: str, lengths: str) -> str:
    """Which positions are real, [batch, source]."""
    places = graph("Unsqueeze", graph.count_up(graph.size(source, 1)), graph.integers(0))
    return graph("Less", places, graph("Unsqueeze", lengths, graph.integers(1)))


def only_real(graph: Graph, states: str, real: str) -> str:
    """The states with zeros at padding."""
    return graph("Where", graph("Unsqueeze", real, graph.integers(2)), states, graph.constant(0.0))
