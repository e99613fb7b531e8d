"""Pages 1 and 2: everything through one vector; and every state kept, lit by a spotlight for each word."""

from collections.abc import Sequence

from drawing.canvas import (
    BLUE,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_GREY,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    Sheet,
    Stroke,
)
from drawing.maps import Seen, load_maps
from drawing.shapes import beam_of_light, blank_strip, ruler

VECTOR = 6
"""Cells of the one vector, however long the sentence."""


def bottleneck() -> str:
    sheet = Sheet(
        "The bottleneck: one vector for every sentence",
        "Above, the four words 'turn off the lights' go into a vector of six cells, and three Hindi words come out."
        " Below, a sentence of more than twenty words has to go through a vector of the same six cells.",
        432,
    )
    sheet.heading(30, "A short sentence fits")
    _encoder(sheet, 46, ["turn off", "the lights"], 168)
    _vector(sheet, 46)
    _decoder(sheet, 46, ["लाइट बंद करो"], 168)
    ruler(sheet, (16, 207), (464, 207))
    sheet.heading(236, "A long one goes through the same six numbers")
    source = ["michael traveled to", "japan in april,", "explored the temples,", "tasted new dishes,"]
    source += ["met many friends", "and told stories"]
    _encoder(sheet, 252, source, 168)
    _vector(sheet, 252)
    _decoder(sheet, 252, ["michael a voyagé", "au japon en …", "", "visited what?", "tasted what?", "met whom?"], 168)
    return sheet.svg()


def _encoder(sheet: Sheet, top: float, rows: Sequence[str], width: float) -> None:
    sheet.box((16, top), (width, 128), fill=PALE_BLUE, edge=BLUE)
    middle = top + 70 - (len(rows) - 1) * 9.5
    sheet.lines(16 + width / 2, middle, rows, anchor="middle")
    sheet.text(16 + width / 2, top + 148, "encoder reads", colour=BLUE)
    sheet.arrow([(16 + width + 4, top + 64), (220, top + 64)], Stroke(BLUE, 2.2))


def _vector(sheet: Sheet, top: float) -> None:
    blank_strip(sheet, (226, top + 4), VECTOR, (28, 20), PALE_PURPLE, PURPLE, down=True)
    sheet.text(240, top + 148, "one vector", colour=PURPLE)


def _decoder(sheet: Sheet, top: float, rows: Sequence[str], width: float) -> None:
    left = 464 - width
    sheet.arrow([(260, top + 64), (left - 4, top + 64)], Stroke(ORANGE, 2.2))
    sheet.box((left, top), (width, 128), fill=PALE_ORANGE, edge=ORANGE)
    middle = top + 70 - (len(rows) - 1) * 9.5
    for row, words in enumerate(rows):
        colour = MUTED if words.endswith("?") else INK
        if words:
            sheet.text(left + width / 2, middle + row * 19, words, colour=colour)
    sheet.text(left + width / 2, top + 148, "decoder writes", colour=ORANGE)


def spotlight() -> str:
    """The step that writes the second `le`, with the weights a trained model really had."""
    seen = load_maps()["walk"]
    row = len(seen.target) - 3
    assert seen.target[row] == "le"
    sheet = Sheet(
        "The spotlight at the step that writes the second 'le'",
        "Every source word keeps its own state. Beams run from the decoder to the words, as strong as the attention"
        f" weights: {_in_words(seen, row)}. Their weighted sum is the context of this step.",
        400,
    )
    sheet.heading(30, "The encoder keeps a state for every word")
    columns = len(seen.source)
    pitch = 448 / columns
    lamp = (240.0, 252.0)
    for column, weight in enumerate(seen.weights[row]):
        beam_of_light(sheet, lamp, (16 + (column + 0.5) * pitch, 140), pitch - 8, weight)
    for column, word in enumerate(seen.source):
        x = 16 + (column + 0.5) * pitch
        special = word == "EOS"
        sheet.text(x, 60, word, colour=GREY if special else INK)
        blank_strip(sheet, (x - 13, 68), 4, (26, 12), PALE_BLUE, BLUE, down=True)
        sheet.text(x, 134, f"h_{{{column + 1}}}", colour=BLUE)
        weight = seen.weights[row][column]
        sheet.text(x, 160, f"{weight:.2f}", bold=weight >= 0.5, colour=INK)
    sheet.text(464, 184, "weights α, sum 1", colour=MUTED, anchor="end")
    sheet.disc(lamp, 17, "#f2b01e", INK)
    sheet.text(lamp[0], lamp[1] + 5, f"s_{{{row}}}")
    sheet.lines(16, 248, ["the decoder's state asks:", "what do I need now?"], colour=ORANGE)
    sheet.arrow([(240, 270), (240, 292)], Stroke(PURPLE, 2.2))
    sheet.labelled((150, 294), (180, 30), f"context c_{{{row + 1}}} = Σ α h", fill=PALE_PURPLE, edge=PURPLE)
    sheet.text(16, 362, "written:", anchor="start", colour=MUTED)
    left = 80.0
    for place, word in enumerate(seen.target[: row + 1]):
        width = 12 + 8.0 * len(word)
        now = place == row
        fill, edge = (PALE_ORANGE, ORANGE) if now else (PALE_GREY, GREY)
        sheet.labelled((left, 343), (width, 30), word, fill=fill, edge=edge, bold=now)
        if now:
            sheet.arrow([(240, 324), (240, 333), (left + width / 2, 333), (left + width / 2, 343)], Stroke(ORANGE, 2))
        left += width + 7
    sheet.text(left + 4, 362, "…", anchor="start", colour=MUTED)
    return sheet.svg()


def _in_words(seen: Seen, row: int) -> str:
    return ", ".join(f"{word} {weight:.2f}" for word, weight in zip(seen.source, seen.weights[row], strict=True))
