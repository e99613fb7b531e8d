"""A sheet of SVG that elements are put on: texts with subscripts, boxes, arrows; numbers are printed one way only."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH = 480
"""Every sheet is this wide; shown 360 pixels wide, text of size 14 is still 10.5 pixels high."""
NATURAL = 640
"""Pixels wide where nothing else says how wide."""
TEXT = 14.0
SUBSCRIPT = 0.8
"""Subscripts are this much smaller."""

INK, MUTED, PAPER, RULE = "#22303c", "#56646f", "#fffdf8", "#d8d1c3"
BLUE, PALE_BLUE = "#2b6cb0", "#e2edf9"
ORANGE, PALE_ORANGE = "#b94e12", "#fdeadb"
PURPLE, PALE_PURPLE = "#6b3fa0", "#efe6f8"
GREEN, PALE_GREEN = "#2a7648", "#e2f2e7"
GREY, PALE_GREY = "#7b8790", "#eeece6"

HINDI = Path(__file__).parents[1] / "hindi.json"
"""Outlines of the Hindi words, written by trace_hindi.py."""
SPACE = 0.27
"""Between words of outlines, in units of the text's size."""

Point = tuple[float, float]


def number(value: float) -> str:
    """Two decimals at most, no trailing zeros, no negative zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shown(value: float, digits: int = 2) -> str:
    """A number as it stands in a picture: a real minus sign."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def mixed(first: str, second: str, share: float) -> str:
    """The colour that lies `share` of the way from the first to the second."""
    ends = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (first, second)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


@dataclass(frozen=True)
class Stroke:
    """How a line looks."""

    colour: str = MUTED
    width: float = 1.6
    dashed: bool = False

    def attributes(self) -> str:
        dashes = ' stroke-dasharray="5 4"' if self.dashed else ""
        return f'stroke="{self.colour}" stroke-width="{number(self.width)}"{dashes} fill="none"'


THIN = Stroke()


@dataclass
class Sheet:
    """One picture in the making; `title` and `description` are what a screen reader says."""

    title: str
    description: str
    height: float
    elements: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = TEXT,
        colour: str = INK,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """`h_{j}` sets j as a subscript. Hindi is drawn as outlines and must come first."""
        hindi, words = _hindi_first(words)
        if hindi:
            x += self._outlines(x, y, hindi, size, colour, "start" if words else anchor)
        if not words:
            return
        weight = ' font-weight="bold"' if bold else ""
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
        self.elements.append(
            f'<text {place} fill="{colour}" text-anchor="{anchor}"{weight}>{_with_subscripts(words, size)}</text>'
        )

    def _outlines(self, x: float, y: float, words: Sequence[str], size: float, colour: str, anchor: str) -> float:
        """Traced words side by side; returns their width."""
        found = [_traced()[word] for word in words]
        widths = [one["advance"] / one["units"] * size for one in found]
        whole = sum(widths) + SPACE * size * (len(words) - 1)
        left = x - {"start": 0.0, "middle": whole / 2, "end": whole}[anchor]
        for word, one, width in zip(words, found, widths, strict=True):
            scale = size / one["units"]
            place = f'transform="translate({number(left)} {number(y)}) scale({scale:.5f} {-scale:.5f})"'
            self.elements.append(f'<path aria-label="{word}" {place} fill="{colour}" d="{one["path"]}"/>')
            left += width + SPACE * size
        return whole + SPACE * size

    def lines(
        self, x: float, y: float, rows: Sequence[str], *, step: float = 19, colour: str = INK, anchor: str = "start"
    ) -> None:
        for row, words in enumerate(rows):
            self.text(x, y + row * step, words, colour=colour, anchor=anchor)

    def box(
        self,
        corner: Point,
        size: Point,
        *,
        fill: str = PALE_GREY,
        edge: str | None = None,
        radius: float = 6,
        dashed: bool = False,
    ) -> None:
        x, y = corner
        width, height = size
        outline = "" if edge is None else f' stroke="{edge}" stroke-width="1.5"'
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.elements.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
            f' rx="{number(radius)}" fill="{fill}"{outline}{dashes}/>'
        )

    def labelled(
        self, corner: Point, size: Point, words: str, *, fill: str, edge: str, colour: str = INK, bold: bool = False
    ) -> None:
        """A box with one line of text in its middle."""
        self.box(corner, size, fill=fill, edge=edge)
        self.text(corner[0] + size[0] / 2, corner[1] + size[1] / 2 + 5, words, colour=colour, bold=bold)

    def polyline(self, points: Sequence[Point], stroke: Stroke = THIN) -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.elements.append(f'<polyline points="{path}" {stroke.attributes()} stroke-linejoin="round"/>')

    def polygon(self, points: Sequence[Point], fill: str, opacity: float = 1) -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        faint = "" if opacity == 1 else f' fill-opacity="{number(opacity)}"'
        self.elements.append(f'<polygon points="{path}" fill="{fill}"{faint}/>')

    def disc(self, centre: Point, radius: float, fill: str, edge: str | None = None) -> None:
        outline = "" if edge is None else f' stroke="{edge}" stroke-width="1.5"'
        self.elements.append(
            f'<circle cx="{number(centre[0])}" cy="{number(centre[1])}" r="{number(radius)}" fill="{fill}"{outline}/>'
        )

    def arrow(self, points: Sequence[Point], stroke: Stroke = THIN) -> None:
        """A line along the points; its head ends exactly at the last one."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        length = math.hypot(x1 - x0, y1 - y0)
        along, half = ((x1 - x0) / length, (y1 - y0) / length), 3.2 + stroke.width * 0.6
        head = 2.2 * half
        neck = (x1 - along[0] * head, y1 - along[1] * head)
        self.polyline([*points[:-1], (neck[0] + along[0], neck[1] + along[1])], stroke)
        across = (-along[1] * half, along[0] * half)
        wings = [(neck[0] + across[0], neck[1] + across[1]), (neck[0] - across[0], neck[1] - across[1])]
        self.polygon([(x1, y1), *wings], stroke.colour)

    def heading(self, y: float, words: str, colour: str = INK, x: float = 16) -> None:
        self.text(x, y, words, size=16, colour=colour, anchor="start", bold=True)

    def svg(self) -> str:
        """The finished picture."""
        tall = number(self.height * NATURAL / WIDTH)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{NATURAL}" height="{tall}"'
                f' viewBox="0 0 {WIDTH} {number(self.height)}" role="img"'
                ' aria-labelledby="title desc" font-family="sans-serif">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="desc">{escape(self.description)}</desc>',
                f'<rect x="0.75" y="0.75" width="{WIDTH - 1.5}" height="{number(self.height - 1.5)}" rx="10"'
                f' fill="{PAPER}" stroke="{RULE}" stroke-width="1.5"/>',
                *self.elements,
                "</svg>\n",
            ]
        )


@cache
def _traced() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(HINDI.read_text(encoding="utf-8"))["words"]
    return found


def _hindi_first(words: str) -> tuple[list[str], str]:
    """The Hindi words that a text begins with, and the rest."""
    hindi: list[str] = []
    while (word := words.split(" ", 1)[0]) in _traced():
        hindi.append(word)
        words = words[len(word) :].removeprefix(" ")
    return hindi, words


def _with_subscripts(words: str, size: float) -> str:
    shift = number(size * 0.25)
    small = number(size * SUBSCRIPT)
    parts = re.split(r"_\{([^}]*)\}", words)
    found = [escape(parts[0])]
    for low, after in zip(parts[1::2], parts[2::2], strict=True):
        found.append(f'<tspan dy="{shift}" font-size="{small}">{escape(low)}</tspan>')
        # The shift is taken back by whatever follows; a zero-width space carries it where nothing does.
        found.append(f'<tspan dy="-{shift}">{escape(after) or "&#8203;"}</tspan>')
    return "".join(found)
