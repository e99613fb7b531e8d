"""Page 4: the two wirings side by side, and what the windows let through."""

import numpy as np

from drawing.canvas import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_GREY,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    Point,
    Sheet,
    Stroke,
)
from drawing.shapes import ruler
from regard.attention.local.reference import local_m, local_p
from regard.attention.worked import WorkedView, global_view, weights_of

BOX = (132.0, 34.0)
"""A step's box in the wiring."""


def wiring() -> str:
    sheet = Sheet(
        "Bahdanau and Luong: the wiring of one step",
        "Left, Bahdanau: the previous state asks, the context enters the recurrent cell beside the last word, and the"
        " new state leads to the next word. Right, Luong: the cell moves first, the current state asks, and the context"
        " meets it at the output; the attentional vector is fed to the next step's input.",
        520,
    )
    sheet.text(122, 32, "Bahdanau looks first", size=15, bold=True)
    sheet.text(360, 32, "Luong moves first", size=15, bold=True)
    ruler(sheet, (240, 16), (240, 470))
    _bahdanau(sheet)
    _luong(sheet)
    sheet.lines(16, 492, ["query s_{t−1}, context at the input"], colour=MUTED)
    sheet.lines(252, 492, ["query s_{t}, context at the output"], colour=MUTED)
    return sheet.svg()


def _state(sheet: Sheet, corner: Point, words: str) -> None:
    sheet.labelled(corner, BOX, words, fill=PALE_ORANGE, edge=ORANGE)


def _bahdanau(sheet: Sheet) -> None:
    left, middle = 36.0, 102.0
    _state(sheet, (left, 52), "s_{t−1}")
    sheet.arrow([(middle, 86), (middle, 122)], Stroke(ORANGE, 2))
    sheet.labelled((left, 124), BOX, "attention", fill=PALE_PURPLE, edge=PURPLE)
    sheet.labelled((188, 124), (44, 34), "h", fill=PALE_BLUE, edge=BLUE)
    sheet.arrow([(188, 141), (170, 141)], Stroke(BLUE, 2))
    sheet.arrow([(middle, 158), (middle, 194)], Stroke(PURPLE, 2))
    sheet.text(middle + 10, 180, "c_{t}", anchor="start", colour=PURPLE)
    sheet.labelled((left, 196), BOX, "[ y_{t−1} ; c_{t} ]", fill=PALE_GREY, edge=MUTED)
    sheet.labelled((188, 196), (44, 34), "y_{t−1}", fill=PALE_GREEN, edge=GREEN)
    sheet.arrow([(188, 213), (170, 213)], Stroke(GREEN, 2))
    sheet.arrow([(middle, 230), (middle, 266)])
    sheet.labelled((left, 268), BOX, "GRU cell", fill=PALE_ORANGE, edge=ORANGE, bold=True)
    sheet.arrow([(left, 69), (20, 69), (20, 285), (34, 285)], Stroke(ORANGE, 2))
    sheet.arrow([(middle, 302), (middle, 338)], Stroke(ORANGE, 2))
    _state(sheet, (left, 340), "s_{t}")
    sheet.arrow([(middle, 374), (middle, 426)])
    sheet.text(middle + 10, 404, "readout", anchor="start", colour=MUTED)
    sheet.labelled((left, 428), BOX, "next word y_{t}", fill=PALE_GREEN, edge=GREEN)


def _luong(sheet: Sheet) -> None:
    left, middle = 272.0, 338.0
    _state(sheet, (left, 52), "s_{t−1}")
    sheet.arrow([(middle, 86), (middle, 122)], Stroke(ORANGE, 2))
    sheet.labelled((left, 124), BOX, "LSTM cell", fill=PALE_ORANGE, edge=ORANGE, bold=True)
    sheet.labelled((424, 124), (44, 34), "y_{t−1}", fill=PALE_GREEN, edge=GREEN)
    sheet.arrow([(424, 141), (406, 141)], Stroke(GREEN, 2))
    sheet.arrow([(middle, 158), (middle, 194)], Stroke(ORANGE, 2))
    _state(sheet, (left, 196), "s_{t}")
    sheet.arrow([(middle, 230), (middle, 266)], Stroke(ORANGE, 2))
    sheet.labelled((left, 268), BOX, "attention", fill=PALE_PURPLE, edge=PURPLE)
    sheet.labelled((424, 268), (44, 34), "h", fill=PALE_BLUE, edge=BLUE)
    sheet.arrow([(424, 285), (406, 285)], Stroke(BLUE, 2))
    sheet.arrow([(middle, 302), (middle, 338)], Stroke(PURPLE, 2))
    sheet.text(middle + 10, 324, "c_{t}", anchor="start", colour=PURPLE)
    sheet.labelled((left, 340), BOX, "tanh(W_{c}[c_{t}; s_{t}])", fill=PALE_GREY, edge=MUTED)
    sheet.arrow([(left, 213), (258, 213), (258, 357), (270, 357)], Stroke(ORANGE, 2))
    sheet.arrow([(middle, 374), (middle, 426)])
    sheet.labelled((left, 428), BOX, "next word y_{t}", fill=PALE_GREEN, edge=GREEN)
    sheet.arrow([(404, 357), (420, 357), (420, 410), (466, 410)], Stroke(PURPLE, 2, dashed=True))
    sheet.lines(470, 396, ["input"], colour=PURPLE, anchor="end")
    sheet.lines(470, 431, ["feeding"], colour=PURPLE, anchor="end")


POSITIONS, REACH = 13, 3
SCORES = np.array([[0.2, 0.9, -0.3, 0.5, 1.3, 0.1, 1.6, 2.1, 1.2, 0.4, -0.2, 1.0, 0.3]])
STEP = np.array([[1.0]])
"""A decoder state of one number is enough to predict p_t from."""
CENTRE_BIAS = 0.76
AXIS_LEFT, PITCH = 34.0, 33.0


def windows() -> str:
    """The same scores through three windows, weights computed by the reference."""
    real = np.ones(POSITIONS, dtype=bool)
    everywhere = global_view(real, 1)
    around_step = local_m(STEP, real, reach=REACH, position=4)
    predicted = local_p(STEP, real, reach=REACH, W_p=np.array([[1.0]]), v_p=np.array([CENTRE_BIAS]))
    assert predicted.center is not None
    centre = float(predicted.center[0])
    sheet = Sheet(
        "Global, local-m and local-p windows over the same scores",
        "Bars are attention weights over thirteen source positions. Global attention spreads over all of them; local-m"
        f" keeps a window of three on each side of position 4, the step; local-p predicts the centre {centre:.1f} and"
        " multiplies by a Gaussian around it.",
        496,
    )
    _panel(sheet, 0, "global: every position", everywhere)
    _panel(sheet, 1, "local-m: p_{t} = t = 4, three to each side", around_step)
    _panel(sheet, 2, f"local-p: p_{{t}} = {centre:.1f} is predicted, and a Gaussian", predicted)
    return sheet.svg()


def _panel(sheet: Sheet, place: int, title: str, view: WorkedView) -> None:
    top = place * 158.0
    base = top + 140
    sheet.heading(top + 28, title)
    weights = weights_of(SCORES, view)[0]
    inside = np.flatnonzero(view.mask[0])
    left, right = _middle(float(inside[0])) - PITCH / 2, _middle(float(inside[-1])) + PITCH / 2
    sheet.box((left, top + 44), (right - left, base - top - 44), fill=PALE_PURPLE, radius=4)
    for position, weight in enumerate(weights):
        height = float(weight) * 170
        if height > 0:
            sheet.box((_middle(position) - 11, base - height), (22, height), fill=PURPLE, radius=2)
        sheet.text(_middle(position), base + 17, str(position), colour=INK if view.mask[0, position] else MUTED)
    ruler(sheet, (16, base), (464, base), MUTED)
    if view.center is None:
        return
    centre = _middle(float(view.center[0]))
    sheet.polyline([(centre, top + 40), (centre, base)], Stroke(ORANGE, 2, dashed=True))
    if view.gaussian is not None:
        sigma = REACH / 2
        spots = [float(view.center[0]) + offset / 10 for offset in range(-30, 31)]
        curve = [
            (_middle(spot), base - 72 * float(np.exp(-((spot - view.center[0]) ** 2) / (2 * sigma**2))))
            for spot in spots
        ]
        sheet.polyline([point for point in curve if point[0] <= 464], Stroke(ORANGE, 2.4))
    sheet.text(centre + 8, top + 56, "p_{t}", anchor="start", colour=ORANGE, bold=True)


def _middle(position: float) -> float:
    return AXIS_LEFT + 8 + position * PITCH
