"""The numbers between the states and the scores of a worked step: every matrix and every intermediate product."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from regard.lab.explanation import HEADS, LOCAL_P_REACH, QUERY, REAL, STATES, V_P, W_A, W_H, W_S, WORDS, V

UNITS = ("unit 1", "unit 2", "unit 3")
COUNT_HEADS = 2


@dataclass(frozen=True)
class Stage:
    """One table: a title, a name for each row, numbers; or plain lines below the title."""

    title: str
    names: tuple[str, ...] = ()
    table: Float[ndarray, "rows columns"] | None = None
    lines: tuple[str, ...] = ()
    decimals: int = 2


def stages(mechanism: str) -> list[Stage]:
    """Everything needed to recompute each score by hand, in the order in which it is computed."""
    return {
        "additive": _additive,
        "concat": _concat,
        "dot": _dot,
        "general": _general,
        "scaled-dot": _scaled_dot,
        "multi-head": _multi_head,
        "local-m": _general,
        "local-p": _local_p,
    }.get(mechanism, list)()


def _additive() -> list[Stage]:
    query, keys = W_S @ QUERY[0], STATES @ W_H.T
    return [
        Stage("W_s, a row for each hidden unit, meets s", UNITS, W_S, decimals=1),
        Stage("W_h, a row for each hidden unit, meets h", UNITS, W_H, decimals=1),
        Stage("v, one number for each hidden unit", ("v",), V[None], decimals=1),
        Stage("W_s s: once for each step", ("W_s s",), query[None]),
        Stage("W_h h: once for each sentence", WORDS, keys),
        *_through_tanh(query + keys),
    ]


def _concat() -> list[Stage]:
    W_a = np.hstack([W_S, W_H])
    both = np.hstack([np.repeat(QUERY, len(STATES), axis=0), STATES])
    return [
        Stage("W_a = [W_s W_h], a row for each hidden unit", UNITS, W_a, decimals=1),
        Stage("v, one number for each hidden unit", ("v",), V[None], decimals=1),
        Stage("[s; h]: the same s beside each state, 4 × 8 for the real words", WORDS, both, decimals=1),
        *_through_tanh(both @ W_a.T),
    ]


def _through_tanh(before: Float[ndarray, "source unit"]) -> list[Stage]:
    hidden = np.tanh(before)
    return [
        Stage("before tanh, a column for each hidden unit", WORDS, before),
        Stage("the hidden layer: tanh of it", WORDS, hidden, decimals=4),
        Stage("score e = v · hidden", lines=_products(V, hidden, 4)),
    ]


def _dot() -> list[Stage]:
    return [Stage("score e = s · h", lines=_products(QUERY[0], STATES, 2))]


def _general() -> list[Stage]:
    turned = STATES @ W_A.T
    return [
        Stage("W_a", ("row 1", "row 2", "row 3", "row 4"), W_A, decimals=1),
        Stage("W_a h", WORDS, turned),
        Stage("score e = s · W_a h", lines=_products(QUERY[0], turned, 2)),
    ]


def _scaled_dot() -> list[Stage]:
    return [Stage("score e = s · h / √4: the sum of products, halved", lines=_products(QUERY[0], STATES, 2, over=2.0))]


def _multi_head() -> list[Stage]:
    rows = ("row 1", "row 2", "row 3", "row 4")
    query, keys = HEADS["W_q"] @ QUERY[0], STATES @ HEADS["W_k"].T
    width = len(query) // COUNT_HEADS
    found = [Stage(name, rows, matrix, decimals=1) for name, matrix in HEADS.items()]
    found += [Stage("W_q s", ("W_q s",), query[None]), Stage("W_k h", WORDS, keys)]
    for head in range(COUNT_HEADS):
        part = slice(head * width, (head + 1) * width)
        title = f"head {head + 1}: columns {part.start + 1} and {part.stop}, score e = product / √{width}"
        found.append(Stage(title, lines=_products(query[part], keys[:, part], 2, over=float(np.sqrt(width)))))
    return found


def _local_p() -> list[Stage]:
    hidden = np.tanh(W_S @ QUERY[0])
    total = float(V_P @ hidden)
    share = 1 / (1 + np.exp(-total))
    words = int(REAL.sum())
    return [
        *_general(),
        Stage("W_p, a row for each hidden unit", UNITS, W_S, decimals=1),
        Stage("v_p", ("v_p",), V_P[None], decimals=1),
        Stage("tanh(W_p s)", ("tanh",), hidden[None], decimals=4),
        Stage(
            "the centre",
            lines=(
                f"v_p · tanh(W_p s) = {_sum(V_P, hidden, 4)} = {total:.4f}",
                f"sigmoid = 1 / (1 + exp({-total:.4f})) = {share:.4f}",
                f"p_t = S · sigmoid = {words} × {share:.4f} = {words * share:.4f},  "
                f"σ = D / 2 = {LOCAL_P_REACH} / 2 = {LOCAL_P_REACH / 2:g}",
            ),
        ),
    ]


def _products(
    left: Float[ndarray, " width"], rows: Float[ndarray, "source width"], decimals: int, over: float = 1.0
) -> tuple[str, ...]:
    divided = "" if over == 1.0 else f" / {over:.5g}"
    lines = []
    for word, row in zip(WORDS, rows, strict=True):
        total = f"({_sum(left, row, decimals)}){divided}" if divided else _sum(left, row, decimals)
        lines.append(f"{word:<8} {total} = {float(left @ row) / over:.4f}")
    return tuple(lines)


def _sum(left: Iterable[float], right: Iterable[float], decimals: int) -> str:
    """`0.5×1.2 + (-1)×0.3`: short enough for one line."""
    return " + ".join(f"{_factor(one, 2)}×{_factor(other, decimals)}" for one, other in zip(left, right, strict=True))


def _factor(value: float, decimals: int) -> str:
    text = f"{round(value, decimals) + 0.0:.{decimals}f}".rstrip("0").rstrip(".")
    return f"({text})" if text.startswith("-") else text


def stage_lines(stage: Stage) -> list[str]:
    """The title, then a row for each name."""
    lines = [stage.title]
    if stage.table is not None:
        for name, row in zip(stage.names, stage.table, strict=True):
            numbers = " ".join(f"{value + 0.0:{stage.decimals + 4}.{stage.decimals}f}" for value in row)
            lines.append(f"  {name:<8} {numbers}")
    return [*lines, *(f"  {line}" for line in stage.lines)]
