"""Pages 3 and 4: one decoder step in numbers, computed by the NumPy references while the picture is drawn."""

import numpy as np

from drawing.canvas import (
    BLUE,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    Sheet,
    Stroke,
    shown,
)
from drawing.shapes import bar, ruler, strip
from regard.attention.additive.reference import additive
from regard.attention.multiplicative.reference import dot
from regard.attention.worked import global_view
from regard.lab.explanation import QUERY, REAL, STATES, W_H, W_S, WORDS, V

REAL_WORDS = 4
"""The fifth position is padding."""
COLUMN, FIRST = 98.0, 84.0
"""Width of a word's column, and where the first begins."""


def step() -> str:
    """Bahdanau's step for `turn off the lights`: the numbers of page 3."""
    states = STATES[:REAL_WORDS]
    worked = additive(QUERY, states, global_view(REAL[:REAL_WORDS], 1), W_s=W_S, W_h=W_H, v=V)
    hidden = np.tanh(worked.query + worked.keys)
    sheet = Sheet(
        "One step of additive attention in numbers",
        "For each of the words turn, off, the, lights: its state of four numbers and the query give three hidden units,"
        " these give a score, the scores give weights by softmax, and the weights give the context.",
        594,
    )
    sheet.heading(30, "1 · one query, four states")
    sheet.text(16, 58, "s_{0}", anchor="start", colour=ORANGE, bold=True)
    strip(sheet, (FIRST, 43), QUERY[0].tolist(), (54, 22), numbers=True)
    _words(sheet, 92)
    sheet.text(16, 147, "h_{j}", anchor="start", colour=BLUE, bold=True)
    for word, state in enumerate(states):
        strip(sheet, (_left(word) + 17, 100), state.tolist(), (56, 21), numbers=True, down=True)
    _down(sheet, 186, 212)
    sheet.heading(236, "2 · three hidden units: tanh(W_{s} s_{0} + W_{h} h_{j})")
    for word, units in enumerate(hidden):
        strip(sheet, (_left(word) + 17, 246), units.tolist(), (56, 21), numbers=True, down=True)
    _down(sheet, 311, 337)
    sheet.heading(361, "3 · a score each: v · hidden")
    sheet.heading(361, "4 · softmax", x=342)
    for word in range(REAL_WORDS):
        middle = _left(word) + 45
        sheet.text(middle, 386, shown(worked.scores[0, word]), bold=True)
        bar(sheet, (_left(word) + 5, 396), (80, 14), float(worked.weights[0, word]), PURPLE)
        sheet.text(middle, 430, shown(worked.weights[0, word], 3), colour=PURPLE, bold=True)
    sheet.text(16, 386, "score e", anchor="start", colour=MUTED)
    sheet.text(16, 430, "weight α", anchor="start", colour=MUTED)
    ruler(sheet, (16, 446), (464, 446))
    sheet.heading(472, "5 · the context: states mixed by these weights")
    terms = " + ".join(f"{shown(worked.weights[0, word], 3)} h_{{{word + 1}}}" for word in range(REAL_WORDS))
    sheet.text(16, 500, f"c_{{1}} = {terms}", anchor="start")
    strip(sheet, (FIRST, 516), worked.context[0].tolist(), (66, 24), numbers=True)
    sheet.text(16, 534, "c_{1}", anchor="start", colour=PURPLE, bold=True)
    sheet.text(16, 572, "लाइट comes next: most of c_{1} is the state of “lights”.", anchor="start", colour=MUTED)
    return sheet.svg()


def _left(word: int) -> float:
    return FIRST + word * COLUMN


def _words(sheet: Sheet, y: float) -> None:
    for word in range(REAL_WORDS):
        sheet.text(_left(word) + 45, y, WORDS[word])


def _down(sheet: Sheet, start: float, end: float) -> None:
    for word in range(REAL_WORDS):
        sheet.arrow([(_left(word) + 45, start), (_left(word) + 45, end)])


def simulation() -> str:
    """The dot score in NumPy: weights as bars, and the context as a sum of faded states."""
    worked = dot(QUERY, STATES, global_view(REAL, 1))
    weights = worked.weights[0]
    listed = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(WORDS, weights, strict=True))
    sheet = Sheet(
        "The NumPy simulation: how a context vector is formed",
        f"Dot scores of one query with five states give the weights {listed}. Each state, faded by its weight,"
        " is added up: the sum is the context vector.",
        400,
    )
    sheet.heading(30, "Weights, states, and their weighted sum")
    sheet.text(16, 60, "query s", anchor="start", colour=ORANGE)
    strip(sheet, (212, 45), QUERY[0].tolist(), (29, 20))
    _column_heads(sheet)
    for row, word in enumerate(WORDS):
        top = 112 + row * 38.0
        real = bool(REAL[row])
        sheet.text(16, top + 15, word, anchor="start", colour=INK if real else GREY)
        bar(sheet, (68, top + 2), (88, 16), float(weights[row]), PURPLE)
        sheet.text(198, top + 15, shown(weights[row]), anchor="end", colour=PURPLE, bold=True)
        strip(sheet, (212, top), STATES[row].tolist(), (29, 20), edge=BLUE if real else GREY)
        sheet.text(336, top + 15, "→", colour=MUTED)
        strip(sheet, (347, top), (weights[row] * STATES[row]).tolist(), (29, 20), edge=PURPLE if real else GREY)
    ruler(sheet, (16, 303), (464, 303))
    sheet.text(16, 335, "context c = Σ α h, the column sums", anchor="start", colour=PURPLE)
    sheet.arrow([(405, 305), (405, 317)], Stroke(PURPLE, 2))
    strip(sheet, (347, 319), worked.context[0].tolist(), (29, 22), edge=PURPLE)
    sheet.text(464, 364, "[" + "  ".join(shown(value) for value in worked.context[0]) + "]", anchor="end")
    sheet.text(16, 386, "blue: above zero, orange: below; PAD is masked", anchor="start", colour=MUTED)
    return sheet.svg()


def _column_heads(sheet: Sheet) -> None:
    sheet.text(16, 96, "word", anchor="start", colour=MUTED)
    sheet.text(132, 96, "weight α", colour=MUTED)
    sheet.text(270, 96, "state h", colour=MUTED)
    sheet.text(405, 96, "α × h", colour=MUTED)
