"""Page 8: the same step over words, parts of a picture, and slices of sound."""

import math

from drawing.canvas import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    Sheet,
    Stroke,
)


def memories() -> str:
    """What the h_j are: words, cells of a grid, frames; what asks and what is done with them stays."""
    sheet = Sheet(
        "One mechanism, three memories",
        "Three rows. Text: the states h belong to words. Pictures: they belong to the cells of a grid laid over the"
        " picture. Speech: they belong to short slices of sound. In each row the same step follows: score, softmax,"
        " weighted sum, and a decoder writes words. The weights are an illustration, not a measurement.",
        470,
    )
    sheet.heading(28, "The memory changes, the step does not")
    rows = (("text", BLUE, PALE_BLUE), ("picture", GREEN, PALE_GREEN), ("speech", ORANGE, PALE_ORANGE))
    for place, (name, edge, fill) in enumerate(rows):
        top = 48.0 + place * 128
        sheet.text(16, top + 56, name, anchor="start", bold=True, colour=edge)
        (_words, _grid, _sound)[place](sheet, top, edge, fill)
        sheet.arrow([(262, top + 50), (284, top + 50)], Stroke(edge, 2))
        sheet.box((286, top + 16), (90, 70), fill=PALE_PURPLE, edge=PURPLE)
        for line, words in enumerate(("score", "softmax", "sum")):
            sheet.text(331, top + 37 + 19 * line, words, colour=PURPLE)
        sheet.arrow([(376, top + 50), (398, top + 50)], Stroke(PURPLE, 2))
        sheet.text(404, top + 55, ("chat", "bird", "hello")[place], anchor="start", bold=True)
    told = (
        "a state for each word",
        "a state for each cell (Xu et al. used 14 × 14)",
        "a state for each slice of sound",
    )
    for place, words in enumerate(told):
        sheet.text(86, 48.0 + place * 128 + 112, words, anchor="start", colour=MUTED)
    sheet.text(16, 454, "Illustration: these weights are drawn by hand.", anchor="start", colour=MUTED)
    return sheet.svg()


def _words(sheet: Sheet, top: float, edge: str, fill: str) -> None:
    for place, word in enumerate(("the", "black", "cat")):
        chosen = word == "cat"
        sheet.labelled(
            (86 + place * 58, top + 36),
            (52, 28),
            word,
            fill=edge if chosen else fill,
            edge=edge,
            colour="#ffffff" if chosen else INK,
        )


def _grid(sheet: Sheet, top: float, edge: str, fill: str) -> None:
    bird = {(1, 3): 0.5, (1, 4): 1.0, (2, 3): 0.8, (2, 4): 0.9}
    for row in range(4):
        for column in range(7):
            share = bird.get((row, column), 0.0)
            colour = edge if share > 0.7 else "#9cc9ae" if share else fill
            sheet.box((86 + column * 24, top + 4 + row * 22), (24, 22), fill=colour, edge=edge, radius=0)


def _sound(sheet: Sheet, top: float, edge: str, fill: str) -> None:
    for place in range(14):
        chosen = 4 <= place <= 6
        sheet.box((86 + place * 12, top + 12), (12, 76), fill="#f2b48a" if chosen else fill, edge=edge, radius=0)
    curve = [
        (86 + 168 * step / 240, top + 50 - 30 * math.sin(step / 2.1) * math.sin(math.pi * step / 240) ** 2)
        for step in range(241)
    ]
    sheet.polyline(curve, Stroke(INK, 1.4))
