"""Heat-maps in a terminal: block characters, readable without colour, aligned in every script."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from regard.plot.attention_map import NO_ATTENTION, AttentionMap, Label, Number, shortened, visible

if TYPE_CHECKING:
    import rich.text

LIT = 0.05
"""Weights below this are drawn as a dot or a blank."""
NARROWEST = 24
_LONGEST_WORD = 12


def cells(text: str) -> int:
    """How many terminal columns a text takes: a combining mark none, a Chinese character two."""
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """Text in exactly `width` columns: shortened with … or filled with blanks."""
    text = shortened(text, width, cells)
    return text + " " * (width - cells(text))


def wrapped_cells(text: str, width: int) -> str:
    """Text on one logical line broken between words into lines of at most `width` columns."""
    parts = [shortened(part, width, cells) for part in visible(text, " ").split()]
    return "\n".join(" ".join(parts[one] for one in row) for row in dealt([cells(part) for part in parts], width, 1))


def dealt(widths: Sequence[int], room: int, gap: int) -> list[list[int]]:
    """The positions of `widths` in rows of at most `room` columns, `gap` between two; a wider one stands alone.

    >>> dealt([3, 4, 9, 2], room=8, gap=1)
    [[0, 1], [2], [3]]
    """
    rows: list[list[int]] = [[]]
    used = 0
    for position, width in enumerate(widths):
        if rows[-1] and used + width > room:
            rows.append([])
            used = 0
        rows[-1].append(position)
        used += width + gap
    return rows


def bar(value: Number, width: int = 10, *, ascii_only: bool = False) -> str:
    """A bar for 0 to 1, exact to an eighth of a column, always `width` columns wide.

    >>> bar(0.5, 4) + "|"
    '██  |'
    """
    value = min(1.0, max(0.0, value)) if isfinite(value) else 0.0
    if ascii_only:
        return ("#" * round(value * width)).ljust(width)
    full, eighths = divmod(round(value * width * 8), 8)
    return ("█" * full + (" ▏▎▍▌▋▊▉"[eighths] if eighths else "")).ljust(width)


def shade(weight: Number, *, ascii_only: bool = False) -> str:
    """One character for a weight: blank below 5 %, then darker from 25, 50 and 75 %."""
    steps = " .:+#" if ascii_only else " ░▒▓█"
    return steps[sum(weight >= edge for edge in (LIT, 0.25, 0.5, 0.75))]


def word(label: Label) -> str:
    """A label as terminal text; a special one in brackets."""
    return f"[{label.shown}]" if label.special else label.shown


def terminal_heatmap(attention: AttentionMap, *, width: int = 80, ascii_only: bool = False) -> "rich.text.Text":
    """The heat-map for `rich.print`, with colour where the terminal has it; `.plain` is the text without escape codes.

    Source words that do not fit follow in further panels.
    """
    from rich.text import Text

    width = max(width, NARROWEST)
    picture = Text(no_wrap=True, overflow="ignore")
    if attention.title:
        picture.append(wrapped_cells(attention.title, width) + "\n", style="bold")
    if attention.weights is None:
        return picture.append(wrapped_cells(NO_ATTENTION, width))
    side = min(max(cells(word(label)) for label in attention.target), _LONGEST_WORD + 2, width // 3)
    marked = bool(attention.possible)
    panels = _panels(attention, width - side - 1, marked)
    for number, panel in enumerate(panels):
        if len(panels) > 1:
            first, last = panel[0][0] + 1, panel[-1][0] + 1
            span = f"source words {first} to {last} of {len(attention.source)}"
            picture.append(("\n\n" if number else "") + shortened(span, width, cells) + "\n", style="italic")
        _append_panel(picture, attention, panel, side, ascii_only)
    for line in _legend(attention, ascii_only):
        picture.append("\n" + wrapped_cells(line, width), style="dim")
    return picture


Column = tuple[int, int]
"""(source position, width in terminal columns)."""


def _panels(attention: AttentionMap, room: int, marked: bool) -> list[list[Column]]:
    """Source words dealt out to panels no wider than `room`."""
    smallest = 6 if marked else 5
    longest = max(smallest, min(_LONGEST_WORD, room - 1))
    widths = [max(smallest, min(cells(word(label)), longest)) for label in attention.source]
    return [[(position, widths[position]) for position in panel] for panel in dealt(widths, room - 1, gap=1)]


def _append_panel(
    picture: "rich.text.Text", attention: AttentionMap, panel: Sequence[Column], side: int, ascii_only: bool
) -> None:
    """Header and rows of one panel, every line equally wide."""
    weights = attention.drawn()
    picture.append(" " * side)
    for position, column in panel:
        label = attention.source[position]
        picture.append(" ").append(padded(word(label), column), style="dim" if label.special else "bold")
    for row, label in enumerate(attention.target):
        picture.append("\n").append(padded(word(label), side), style="dim" if label.special else "bold")
        for position, column in panel:
            weight = float(weights[row, position])
            faint = ("  -" if ascii_only else "  ·") if weight >= 0.005 else "   "
            percent = f"{weight:4.0%}"[:-1] if weight >= LIT else faint
            link = (position, row)
            mark = "*" if link in attention.sure else "o" if link in attention.possible else ""
            text = shade(weight, ascii_only=ascii_only) * 2 + percent
            picture.append(" ").append(padded(text + mark, column), style=_colour(weight))


def _colour(weight: float) -> str:
    """Theme colours only, so that they read on dark and on light terminals; the shade carries the same information."""
    if weight >= 0.5:
        return "bold cyan"
    return "cyan" if weight >= 0.25 else "" if weight >= LIT else "dim"


def _legend(attention: AttentionMap, ascii_only: bool) -> list[str]:
    shades = " ".join(shade(weight, ascii_only=ascii_only) for weight in (LIT, 0.25, 0.5, 0.75))
    faint = "-" if ascii_only else "·"
    lines = [f"rows: written, columns: read, in %; {faint} less than 5, {shades} from 5, 25, 50, 75"]
    if attention.possible:
        lines.append("* sure gold link" + (", o possible" if attention.possible != attention.sure else ""))
    return [*lines, *filter(None, (attention.missing, attention.caption))]
