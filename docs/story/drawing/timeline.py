"""Page 8: the poster, from the fixed vector to what grew out of the Transformer."""

from collections.abc import Callable
from dataclasses import dataclass

from drawing.canvas import BLUE, GREEN, INK, MUTED, ORANGE, PALE_GREY, PURPLE, Point, Sheet, Stroke
from drawing.shapes import WHITE, blank_strip

ICON = 36.0
"""A card's little picture is this wide and high."""
SPINE = 108.0


def _vector(sheet: Sheet, corner: Point, colour: str) -> None:
    """Everything through one vector."""
    blank_strip(sheet, (corner[0] + 12, corner[1]), 4, (12, 9), WHITE, colour, down=True)


def _beams(sheet: Sheet, corner: Point, colour: str) -> None:
    """One word looks at all the others."""
    x, y = corner
    for place, width in enumerate((1.0, 4.5, 2.0, 1.0)):
        spot = (x + 3 + place * 10, y + 5)
        sheet.polyline([spot, (x + ICON / 2, y + 31)], Stroke(colour, width))
        sheet.disc(spot, 3.5, colour)
    sheet.disc((x + ICON / 2, y + 31), 5, colour)


def _grid(sheet: Sheet, corner: Point, colour: str) -> None:
    """Every word looks at every word."""
    _cells(sheet, corner, colour, lambda row, column: True)


def _triangle(sheet: Sheet, corner: Point, colour: str) -> None:
    """Every word looks back."""
    _cells(sheet, corner, colour, lambda row, column: column <= row)


def _cells(sheet: Sheet, corner: Point, colour: str, sees: Callable[[int, int], bool]) -> None:
    for row in range(4):
        for column in range(4):
            fill = colour if sees(row, column) else WHITE
            sheet.box((corner[0] + column * 9, corner[1] + row * 9), (9, 9), fill=fill, edge=PALE_GREY, radius=0)


@dataclass(frozen=True)
class Event:
    """A date, a paper or system, what it changed in a line or two, and its colour and little picture."""

    date: str
    name: str
    lines: tuple[str, ...]
    colour: str
    icon: Callable[[Sheet, Point, str], None]


EVENTS = (
    Event("Aug 2013", "Graves: handwriting", ("a soft window slides along", "the text to be written"), MUTED, _beams),
    Event("Jun 2014", "Cho et al.", ("encoder and decoder, gated units", "(GRU), one vector"), BLUE, _vector),
    Event(
        "Sep 2014",
        "Bahdanau, Cho, Bengio",
        ("align and translate together:", "additive attention (ICLR 2015)"),
        ORANGE,
        _beams,
    ),
    Event(
        "Sep 2014",
        "Sutskever, Vinyals, Le",
        ("sequence to sequence: deep LSTMs,", "one vector, source reversed"),
        BLUE,
        _vector,
    ),
    Event(
        "Feb 2015",
        "Xu et al.: captions",
        ("words look at parts of a picture;", "soft and hard attention"),
        ORANGE,
        _beams,
    ),
    Event("Jun 2015", "Chorowski et al.: speech", ("attention follows the sound",), ORANGE, _beams),
    Event(
        "Aug 2015",
        "Luong, Pham, Manning",
        ("dot, general, concat; current state;", "local windows; input feeding"),
        ORANGE,
        _beams,
    ),
    Event(
        "2016",
        "Attention within one text",
        ("Cheng et al. and Parikh et al.: words", "look at words of their own sentence"),
        PURPLE,
        _grid,
    ),
    Event("Sep 2016", "Wu et al.: GNMT", ("attention in a translation service", "open to everybody"), ORANGE, _beams),
    Event(
        "Jun 2017",
        "Vaswani et al.",
        ("the Transformer: scaled dot, many", "heads, positions, no recurrence"),
        PURPLE,
        _grid,
    ),
    Event(
        "Jun 2018",
        "Radford et al.: GPT",
        ("the decoder alone, pre-trained", "to predict the next word"),
        GREEN,
        _triangle,
    ),
    Event("Oct 2018", "Devlin et al.: BERT", ("the encoder alone, pre-trained", "to fill gaps"), GREEN, _grid),
    Event(
        "2019 on",
        "One mechanism, many scales",
        ("GPT-2 and GPT-3, T5, pictures,", "proteins, large language models"),
        GREEN,
        _triangle,
    ),
)
LEGEND = (
    (BLUE, "one fixed vector"),
    (ORANGE, "attention in an RNN"),
    (PURPLE, "self-attention"),
    (GREEN, "pre-training"),
)


def timeline() -> str:
    heights = [50 + 19 * len(event.lines) for event in EVENTS]
    listed = "; ".join(f"{event.date}, {event.name}: {' '.join(event.lines)}" for event in EVENTS)
    top = 118.0
    sheet = Sheet("From the fixed vector to the Transformer: a timeline", listed + ".", top + sum(heights) + 8)
    sheet.text(240, 38, "From one vector to attention everywhere", size=20, bold=True)
    for place, (colour, words) in enumerate(LEGEND):
        x, y = 24 + (place % 2) * 228.0, 66 + (place // 2) * 24.0
        sheet.disc((x, y - 5), 7, colour)
        sheet.text(x + 14, y, words, anchor="start", colour=MUTED)
    sheet.polyline([(SPINE, top + 6), (SPINE, top + sum(heights) - 34)], Stroke(MUTED, 2.5))
    for event, height in zip(EVENTS, heights, strict=True):
        _card(sheet, event, top, height - 10)
        top += height
    return sheet.svg()


def _card(sheet: Sheet, event: Event, top: float, height: float) -> None:
    left = SPINE + 18
    sheet.box((left, top), (464 - left, height), fill=PALE_GREY, radius=8)
    sheet.box((left, top), (5, height), fill=event.colour, radius=2)
    sheet.disc((SPINE, top + 18), 8, event.colour, INK)
    sheet.text(SPINE - 14, top + 23, event.date, anchor="end", bold=True, size=13.5)
    sheet.text(left + 14, top + 23, event.name, anchor="start", bold=True, size=15)
    sheet.lines(left + 14, top + 43, event.lines)
    event.icon(sheet, (456 - ICON, top + (height - ICON) / 2), event.colour)
