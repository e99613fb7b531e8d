"""Page 7: who may look at whom, and two heads that look at different words."""

from collections.abc import Callable, Sequence

from drawing.canvas import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    PALE_BLUE,
    PALE_ORANGE,
    PALE_PURPLE,
    PURPLE,
    RULE,
    Sheet,
    Stroke,
)
from drawing.shapes import WHITE, bar, strip, tilted
from regard.lab.explanation import REAL, WORDS, explain

ENGLISH = ("the", "black", "cat", "sat")
FRENCH = ("le", "chat", "noir", "était")
CELL = 27.0


def views() -> str:
    """Three masks: the cross-attention of 2014, and the two self-attentions that joined it in 2017."""
    sheet = Sheet(
        "Who looks at whom in a Transformer",
        "Three grids, a row for each word that looks, a column for each word seen. Self-attention in the encoder: every"
        " English word sees every English word. Self-attention in the decoder: every French word sees itself and those"
        " before it. Cross-attention: every French word sees every English word.",
        540,
    )
    sheet.heading(30, "A row looks, a column is seen")
    _grid(sheet, 90, (ENGLISH, ENGLISH), BLUE, lambda row, column: True)
    _note(sheet, 90, BLUE, "encoder self-attention", ["each source word looks", "at all source words"])
    _grid(sheet, 252, (FRENCH, FRENCH), ORANGE, lambda row, column: column <= row)
    _note(
        sheet,
        252,
        ORANGE,
        "decoder self-attention",
        ["each target word looks at", "itself and those before:", "the causal mask"],
    )
    _grid(sheet, 414, (ENGLISH, FRENCH), PURPLE, lambda row, column: True)
    _note(
        sheet,
        414,
        PURPLE,
        "cross-attention",
        ["each target word looks", "at all source words:", "Bahdanau's idea, kept"],
    )
    return sheet.svg()


def _note(sheet: Sheet, top: float, colour: str, name: str, rows: Sequence[str]) -> None:
    sheet.text(246, top + 22, name, anchor="start", colour=colour, bold=True)
    sheet.lines(246, top + 46, rows)


def _grid(
    sheet: Sheet, top: float, words: tuple[Sequence[str], Sequence[str]], colour: str, sees: Callable[[int, int], bool]
) -> None:
    columns, rows = words
    left = 84.0
    for column, word in enumerate(columns):
        tilted(sheet, left + (column + 0.45) * CELL, top - 6, word)
    for row, word in enumerate(rows):
        sheet.text(left - 9, top + row * CELL + 19, word, anchor="end")
        for column in range(len(columns)):
            fill = colour if sees(row, column) else WHITE
            sheet.box((left + column * CELL, top + row * CELL), (CELL, CELL), fill=fill, edge=RULE, radius=0)


HEAD_LEFT = (16.0, 246.0)
HEAD_WIDTH = 218.0


def multi_head() -> str:
    """`regard explain multi-head` as a picture: each head has its own half of every vector and its own weights."""
    explanation = explain("multi-head")
    worked = explanation.worked
    assert worked is not None
    told = [
        ", ".join(f"{word} {weight:.2f}" for word, weight in zip(WORDS, worked.weights[head, 0], strict=True))
        for head in range(2)
    ]
    sheet = Sheet(
        "Two heads look at different words",
        f"One query is projected and split into two halves. The first head's weights: {told[0]}. The second head's:"
        f" {told[1]}. The two small contexts are joined and mixed by one more matrix.",
        470,
    )
    sheet.heading(30, "One query, two heads")
    sheet.text(170, 56, "query s", anchor="end", colour=ORANGE)
    strip(sheet, (180, 40), explanation.query.tolist(), (30, 22))
    for head in range(2):
        middle = HEAD_LEFT[head] + HEAD_WIDTH / 2
        sheet.arrow([(240 + (head * 2 - 1) * 30, 62), (middle, 88)], Stroke(ORANGE, 2))
        _head(sheet, HEAD_LEFT[head], head, worked.weights[head, 0].tolist())
        sheet.arrow([(middle, 322), (240 + (head * 2 - 1) * 30, 350)], Stroke(PURPLE, 2))
    own = [(worked.weights[head, 0] @ worked.values[head]).tolist() for head in range(2)]
    strip(sheet, (180, 352), [*own[0], *own[1]], (30, 22), edge=PURPLE)
    sheet.text(170, 368, "[c^1; c^2]".replace("^1", "¹").replace("^2", "²"), anchor="end", colour=PURPLE)
    sheet.arrow([(240, 374), (240, 396)], Stroke(PURPLE, 2))
    sheet.text(250, 391, "W_{o}", anchor="start", colour=PURPLE)
    strip(sheet, (180, 398), explanation.context.tolist(), (30, 22), edge=PURPLE)
    sheet.text(170, 414, "context c", anchor="end", colour=PURPLE)
    sheet.text(16, 452, "Here W_{o} is the identity, to keep the numbers small.", anchor="start", colour=MUTED)
    return sheet.svg()


def _head(sheet: Sheet, left: float, head: int, weights: Sequence[float]) -> None:
    fill, edge = ((PALE_BLUE, BLUE), (PALE_ORANGE, ORANGE))[head]
    sheet.box((left, 90), (HEAD_WIDTH, 230), fill=PALE_PURPLE, edge=PURPLE)
    sheet.text(left + HEAD_WIDTH / 2, 114, f"head {head + 1}", bold=True)
    sheet.labelled((left + 14, 124), (HEAD_WIDTH - 28, 28), "q · k / √2, softmax", fill=fill, edge=edge)
    for row, (word, weight) in enumerate(zip(WORDS, weights, strict=True)):
        top = 164 + row * 30.0
        sheet.text(left + 14, top + 15, word, anchor="start", colour=INK if REAL[row] else MUTED)
        bar(sheet, (left + 62, top + 3), (100, 15), weight, PURPLE)
        sheet.text(left + HEAD_WIDTH - 12, top + 15, f"{weight:.2f}", anchor="end")
