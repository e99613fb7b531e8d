"""Page 2: the whole model, unrolled over every word it reads and writes."""

from drawing.canvas import (
    BLUE,
    GREEN,
    GREY,
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

SOURCE = ("the", "black", "cat", "EOS")
TARGET = ("le", "chat", "noir", "EOS")
COLUMNS = (72.0, 184.0, 296.0, 408.0)
BOX = (58.0, 26.0)


def unrolled() -> str:
    """Encoder below, attention between, decoder above: one column for each word."""
    sheet = Sheet(
        "The whole model, unrolled",
        "Below, four source words are embedded and read in both directions; each gets a state h. Above, four decoder"
        " steps: each state asks, the attention mixes all states h into a context c, the GRU reads the last word and"
        " the context, and a softmax over the vocabulary gives the next word, which the next step reads.",
        592,
    )
    sheet.heading(28, "The decoder writes: one step for each word")
    for place, x in enumerate(COLUMNS):
        _step(sheet, place, x)
    sheet.box((16, 318), (448, 34), fill=PALE_PURPLE, edge=PURPLE)
    sheet.text(240, 340, "attention: score every h_{j}, softmax, weighted sum", colour=PURPLE)
    sheet.text(
        16, 582, "The encoder reads: two directions, one state for each word", anchor="start", bold=True, size=15
    )
    for place, (x, word) in enumerate(zip(COLUMNS, SOURCE, strict=True)):
        _read(sheet, place, x, word)
    return sheet.svg()


def _step(sheet: Sheet, place: int, x: float) -> None:
    sheet.text(x, 58, TARGET[place], bold=True, colour=GREY if TARGET[place] == "EOS" else ORANGE)
    sheet.arrow([(x, 86), (x, 64)], Stroke(GREEN, 2))
    sheet.labelled((x - 38, 86), (76, 26), "softmax", fill=PALE_GREEN, edge=GREEN)
    sheet.arrow([(x, 152), (x, 112)], Stroke(ORANGE, 2))
    sheet.labelled((x - BOX[0] / 2, 152), BOX, f"s_{{{place + 1}}}", fill=PALE_ORANGE, edge=ORANGE)
    before = x - BOX[0] / 2 - 2
    start = 20.0 if place == 0 else COLUMNS[place - 1] + BOX[0] / 2
    sheet.arrow([(start, 165), (before, 165)], Stroke(ORANGE, 2))
    if place == 0:
        sheet.text(26, 158, "s_{0}", colour=ORANGE)
    sheet.arrow([(x - 16, 214), (x - 16, 178)], Stroke(MUTED, 1.8))
    sheet.text(x - 22, 230, "BOS" if place == 0 else TARGET[place - 1], colour=MUTED)
    sheet.arrow([(x + 18, 258), (x + 18, 178)], Stroke(PURPLE, 2))
    sheet.labelled((x + 4, 258), (28, 26), f"c_{{{place + 1}}}", fill=PALE_PURPLE, edge=PURPLE)
    sheet.arrow([(x + 18, 318), (x + 18, 284)], Stroke(PURPLE, 2))
    asks = x - 44
    sheet.arrow([(asks, 165), (asks, 318)], Stroke(ORANGE, 1.4, dashed=True))
    sheet.text(asks + 4, 304, f"s_{{{place}}} asks", colour=ORANGE, anchor="start", size=13.5)


def _read(sheet: Sheet, place: int, x: float, word: str) -> None:
    sheet.arrow([(x, 386), (x, 352)], Stroke(BLUE, 2))
    sheet.labelled((x - 24, 386), (48, 26), f"h_{{{place + 1}}}", fill=PALE_BLUE, edge=BLUE)
    for side, top in ((-1, 432.0), (1, 470.0)):
        sheet.labelled((x - BOX[0] / 2, top), BOX, "→h" if side < 0 else "←h", fill=PALE_BLUE, edge=BLUE)
    sheet.arrow([(x, 432), (x, 412)], Stroke(BLUE, 1.6))
    sheet.polyline([(x + 36, 483), (x + 36, 399)], Stroke(BLUE, 1.6))
    sheet.polyline([(x + BOX[0] / 2, 483), (x + 36, 483)], Stroke(BLUE, 1.6))
    sheet.arrow([(x + 36, 399), (x + 24, 399)], Stroke(BLUE, 1.6))
    if place < len(COLUMNS) - 1:
        after = COLUMNS[place + 1] - BOX[0] / 2
        sheet.arrow([(x + BOX[0] / 2, 445), (after, 445)], Stroke(BLUE, 1.6))
        sheet.arrow([(after, 489), (x + BOX[0] / 2, 489)], Stroke(BLUE, 1.6))
    sheet.arrow([(x - 20, 536), (x - 20, 496)], Stroke(MUTED, 1.6))
    sheet.polyline([(x - 40, 526), (x - 40, 445)], Stroke(MUTED, 1.6))
    sheet.arrow([(x - 40, 445), (x - BOX[0] / 2, 445)], Stroke(MUTED, 1.6))
    sheet.polyline([(x - 40, 526), (x - 20, 526)], Stroke(MUTED, 1.6))
    sheet.text(x - 4, 552, word, bold=True, colour=GREY if word == "EOS" else BLUE)
