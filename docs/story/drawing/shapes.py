"""What several pictures are made of: vectors as strips of coloured cells, bars, heat-maps."""

from collections.abc import Sequence

from drawing.canvas import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    PALE_GREY,
    PURPLE,
    RULE,
    Point,
    Sheet,
    Stroke,
    mixed,
    shown,
)

WHITE = "#ffffff"


def signed(value: float, full: float = 1.0) -> str:
    """Blue for what is above zero, orange for what is below, white for nothing."""
    share = min(abs(value) / full, 1.0) * 0.75
    return mixed(WHITE, BLUE if value > 0 else ORANGE, share)


def strip(
    sheet: Sheet,
    corner: Point,
    values: Sequence[float],
    cell: Point = (24, 20),
    *,
    full: float = 1.0,
    numbers: bool = False,
    down: bool = False,
    edge: str = MUTED,
) -> Point:
    """A vector as cells, blue above zero and orange below; returns the corner opposite."""
    x, y = corner
    width, height = cell
    for place, value in enumerate(values):
        left, top = (x, y + place * height) if down else (x + place * width, y)
        fill = signed(value, full)
        sheet.box((left, top), cell, fill=fill, edge=edge, radius=0)
        if numbers:
            light = abs(value) / full > 0.8
            words, colour = shown(value), WHITE if light else INK
            sheet.text(left + width / 2, top + height / 2 + 5, words, size=13.5, colour=colour)
    steps = len(values)
    return (x + width, y + steps * height) if down else (x + steps * width, y + height)


def blank_strip(sheet: Sheet, corner: Point, cells: int, cell: Point, fill: str, edge: str, *, down: bool) -> None:
    """A vector whose numbers do not matter."""
    for place in range(cells):
        left = corner[0] if down else corner[0] + place * cell[0]
        top = corner[1] + place * cell[1] if down else corner[1]
        sheet.box((left, top), cell, fill=fill, edge=edge, radius=0)


def heat(weight: float) -> str:
    """White at 0, deep purple at 1."""
    return mixed(WHITE, PURPLE, min(max(weight, 0.0), 1.0) ** 0.8)


def heatmap(
    sheet: Sheet,
    corner: Point,
    cell: Point,
    rows: Sequence[Sequence[float]],
    *,
    numbers: bool = False,
) -> None:
    """Weights as cells: a row for each target word, a column for each source word; the corner is the first cell's."""
    for row, weights in enumerate(rows):
        for column, weight in enumerate(weights):
            left, top = corner[0] + column * cell[0], corner[1] + row * cell[1]
            sheet.box((left, top), cell, fill=heat(weight), edge=RULE, radius=0)
            if numbers and weight >= 0.005:
                colour = WHITE if weight > 0.45 else INK
                sheet.text(left + cell[0] / 2, top + cell[1] / 2 + 5, f"{weight:.2f}", colour=colour)


def tilted(sheet: Sheet, x: float, y: float, words: str, *, colour: str = INK, size: float = 14) -> None:
    """A column's label, rising to the right."""
    sheet.text(x, y, words, colour=colour, anchor="start", size=size)
    sheet.elements[-1] = sheet.elements[-1].replace("<text ", f'<text transform="rotate(-50 {x:g} {y:g})" ', 1)


def bar(sheet: Sheet, corner: Point, size: Point, share: float, colour: str) -> None:
    """A horizontal bar on its empty track."""
    sheet.box(corner, size, fill=PALE_GREY, radius=3)
    if share > 0:
        sheet.box(corner, (max(size[0] * share, 2), size[1]), fill=colour, radius=3)


def beam_of_light(sheet: Sheet, lamp: Point, target: Point, width: float, weight: float) -> None:
    """From the lamp to a word, as strong as the weight."""
    x, y = target
    sheet.polygon([lamp, (x - width / 2, y), (x + width / 2, y)], "#f2b01e", 0.06 + 0.74 * weight)


def ruler(sheet: Sheet, start: Point, end: Point, colour: str = RULE) -> None:
    sheet.polyline([start, end], Stroke(colour, 1.5))
