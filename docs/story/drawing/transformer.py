"""Page 7: queries, keys and values; the blocks of a Transformer; waves that tell positions apart."""

import math

import numpy as np

from drawing.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_GREY,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    RULE,
    Sheet,
    Stroke,
)
from drawing.shapes import bar, ruler, signed

WORDS = ("the", "black", "cat", "sat")
WIDTH, PLACES = 16, 24
"""Of the position vectors in the picture."""


def query_key_value() -> str:
    """One word asks all words of its sentence; numbers of a small example, computed here."""
    random = np.random.default_rng(5)
    words = random.normal(size=(4, 3)).round(1)
    q, k, v = (words @ random.normal(size=(3, 3)).round(1) for _ in range(3))
    scores = q[2] @ k.T / math.sqrt(3)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    told = ", ".join(f"{word} {weight:.2f}" for word, weight in zip(WORDS, weights, strict=True))
    sheet = Sheet(
        "Query, key and value",
        "Each word's vector x is multiplied by three matrices. The query of 'cat' is compared with the key of every"
        f" word; the softmax gives the weights ({told}); the values, mixed by them, are the new vector of 'cat'.",
        468,
    )
    sheet.heading(28, "Each word's vector plays three roles")
    for place, word in enumerate(WORDS):
        y = 66.0 + place * 44
        asking = place == 2
        sheet.text(62, y + 15, word, anchor="end", bold=asking)
        _vector(sheet, (70, y), words[place], GREY)
        sheet.arrow([(134, y + 10), (168, y + 10)], Stroke(MUTED, 1.6))
        _vector(sheet, (176, y), q[place], ORANGE if asking else RULE)
        _vector(sheet, (272, y), k[place], BLUE)
        _vector(sheet, (368, y), v[place], PURPLE)
    for x, name, colour in ((98, "x", GREY), (204, "q = W_{q} x", ORANGE), (300, "k = W_{k} x", BLUE)):
        sheet.text(x, 56, name, colour=colour, bold=True)
    sheet.text(396, 56, "v = W_{v} x", colour=PURPLE, bold=True)
    ruler(sheet, (16, 250), (464, 250))
    sheet.heading(278, "“cat” asks: q of cat · k of each word / √3")
    for place, (word, score, weight) in enumerate(zip(WORDS, scores, weights, strict=True)):
        y = 296.0 + place * 28
        sheet.text(62, y + 14, word, anchor="end", bold=place == 2)
        sheet.text(120, y + 14, f"{score:.2f}".replace("-", "−"), anchor="end", colour=BLUE)
        bar(sheet, (136, y + 2), (150, 15), float(weight), PURPLE)
        sheet.text(330, y + 14, f"{weight:.2f}", anchor="end", colour=PURPLE)
        sheet.text(344, y + 14, f"× v of {word}", anchor="start", colour=MUTED)
    sheet.text(62, 440, "new cat", anchor="end", bold=True)
    _vector(sheet, (70, 425), weights @ v, PURPLE)
    sheet.text(142, 440, "= the values, mixed by the weights", anchor="start", colour=MUTED)
    return sheet.svg()


def _vector(sheet: Sheet, corner: tuple[float, float], values: np.ndarray, edge: str) -> None:
    for place, value in enumerate(values):
        sheet.box((corner[0] + place * 19, corner[1]), (19, 20), fill=signed(float(value), 2.0), edge=edge, radius=0)


def block() -> str:
    """One layer of the encoder and one of the decoder, pre-norm, as the package builds them."""
    sheet = Sheet(
        "A block of the encoder and a block of the decoder",
        "Left, a block of the encoder: layer norm, self-attention, added to what came in; layer norm, feed-forward,"
        " added again. Right, a block of the decoder: masked self-attention, then cross-attention to the encoder's"
        " output, then feed-forward, each normalised before and added after.",
        560,
    )
    left, right = 120.0, 352.0
    sheet.heading(28, "encoder block × N", BLUE)
    sheet.heading(28, "decoder block × N", ORANGE, x=248)
    _layer(sheet, left, 424, "self-attention", BLUE, PALE_BLUE)
    _layer(sheet, left, 268, "feed-forward", GREEN, PALE_GREEN)
    _layer(sheet, right, 424, "masked self-attention", ORANGE, PALE_ORANGE)
    _layer(sheet, right, 268, "cross-attention", PURPLE, PALE_PURPLE)
    _layer(sheet, right, 112, "feed-forward", GREEN, PALE_GREEN)
    for x, words in ((left, "source words + positions"), (right, "target so far + positions")):
        sheet.text(x, 538, words, colour=MUTED)
    sheet.arrow([(left, 220), (left, 196), (236, 196), (236, 318), (right - 86, 318)], Stroke(BLUE, 2))
    sheet.text(left, 186, "keys and values", colour=BLUE)
    sheet.arrow([(right, 64), (right, 44)], Stroke(ORANGE, 2))
    sheet.text(right + 10, 58, "to the softmax", anchor="start", colour=MUTED)
    return sheet.svg()


def _layer(sheet: Sheet, x: float, top: float, words: str, edge: str, fill: str) -> None:
    """Norm, the layer, and the sum with what came in; its input comes from below, at top + 100."""
    sheet.arrow([(x, top + 100), (x, top + 86)], Stroke(MUTED, 1.8))
    sheet.labelled((x - 40, top + 60), (80, 26), "norm", fill=PALE_GREY, edge=GREY)
    sheet.arrow([(x, top + 60), (x, top + 46)], Stroke(MUTED, 1.8))
    sheet.labelled((x - 84, top + 18), (168, 28), words, fill=fill, edge=edge)
    sheet.arrow([(x, top + 18), (x, top - 8)], Stroke(MUTED, 1.8))
    sheet.disc((x, top - 18), 10, PALE_GREY, INK)
    sheet.text(x, top - 13, "+")
    sheet.arrow([(x, top + 93), (x + 100, top + 93), (x + 100, top - 18), (x + 10, top - 18)], Stroke(GREY, 1.6))
    sheet.polyline([(x, top - 28), (x, top - 56)], Stroke(MUTED, 1.8))


def waves() -> str:
    """The sines and cosines of section 3.5 for 24 places and 16 numbers."""
    places = np.arange(PLACES)[:, None]
    rates = 10000.0 ** (-2 * (np.arange(WIDTH) // 2) / WIDTH)
    angles = places * rates
    values = np.where(np.arange(WIDTH) % 2 == 0, np.sin(angles), np.cos(angles))
    sheet = Sheet(
        "Position waves",
        "A grid of 24 places by 16 numbers. In the first columns the colour alternates from place to place; further"
        " right the waves get longer, until the last columns hardly change. Below, three of the waves as curves.",
        604,
    )
    sheet.heading(28, "Each row: the vector that is added at that place")
    left, top, cell = 66.0, 62.0, (23.0, 13.0)
    for place in range(PLACES):
        if place % 4 == 0:
            sheet.text(left - 8, top + place * cell[1] + 11, f"{place}", anchor="end", colour=MUTED, size=13.5)
        for column in range(WIDTH):
            corner = (left + column * cell[0], top + place * cell[1])
            sheet.box(corner, cell, fill=signed(float(values[place, column])), radius=0)
    sheet.text(left, 54, "fast: tells neighbours apart", anchor="start", colour=MUTED)
    sheet.text(left + WIDTH * cell[0], 54, "slow", anchor="end", colour=MUTED)
    sheet.text(22, top + 160, "place", colour=MUTED)
    for row, (column, colour) in enumerate(((0, BLUE), (2, PURPLE), (4, ORANGE))):
        y = 424.0 + row * 64
        sheet.text(16, y + 5, f"{column + 1}", anchor="start", colour=colour, bold=True)
        sheet.polyline([(left, y), (left + 368, y)], Stroke(RULE, 1))
        steps = np.linspace(0, PLACES - 1, 185)
        curve = [(left + step * 16, y - 24 * math.sin(step * rates[column])) for step in steps]
        sheet.polyline(curve, Stroke(colour, 2))
    sheet.text(left, 592, "numbers 1, 3 and 5 of the vector, from place 0 to 23", anchor="start", colour=MUTED)
    return sheet.svg()
