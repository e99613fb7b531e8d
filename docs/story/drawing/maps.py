"""Pages 2 and 6: heat-maps of trained models, from the numbers that measure_maps.py wrote."""

import json
from dataclasses import dataclass
from pathlib import Path

from drawing.canvas import GREY, INK, MUTED, PURPLE, Point, Sheet, Stroke, mixed
from drawing.shapes import WHITE, heatmap, tilted

MAPS = Path(__file__).parents[1] / "maps.json"


@dataclass(frozen=True)
class Seen:
    """What a trained model looked at while it translated one sentence: a row for each target word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


def load_maps() -> dict[str, Seen]:
    found = json.loads(MAPS.read_text(encoding="utf-8"))["maps"]
    return {
        name: Seen(tuple(one["source"]), tuple(one["target"]), tuple(tuple(row) for row in one["weights"]))
        for name, one in found.items()
    }


def walk() -> str:
    """The black cat, with every weight."""
    seen = load_maps()["walk"]
    looked = "; ".join(f"{word} at {_most(seen, row)}" for row, word in enumerate(seen.target))
    sheet = Sheet("The black cat: where a trained model looks", f"Each French word looks most at: {looked}.", 474)
    sheet.text(16, 30, "columns: source words", anchor="start", colour=MUTED)
    sheet.text(16, 50, "rows: words written", anchor="start", colour=MUTED)
    draw_map(sheet, (72, 96), (49, 36), seen, numbers=True)
    _scale(sheet, (300, 438))
    return sheet.svg()


PATTERNS = (
    ("copy", "diagonal", "a copy"),
    ("reverse", "anti-diagonal", "a reversal"),
    ("swap", "crossing", "white horse, cheval blanc"),
    ("lights", "block", "“turn off” moves to the end"),
    ("bread", "vertical stripe", "one word, seen by three"),
    ("sleep", "smear", "“pas” needs no look"),
)
"""Name of the map, of the pattern, and what it means."""


def patterns() -> str:
    maps = load_maps()
    told = "; ".join(f"{name}, {meaning}" for _, name, meaning in PATTERNS)
    lines = [max(len(maps[key].target) for key, _, _ in PATTERNS[place : place + 2]) for place in (0, 2, 4)]
    tops = [sum(124.0 + 19 * rows for rows in lines[:place]) for place in range(4)]
    sheet = Sheet("Six patterns and what they mean", f"Heat-maps of trained models: {told}.", tops[3] + 6)
    for place, (key, name, meaning) in enumerate(PATTERNS):
        left, top = (place % 2) * 234.0 + 10, tops[place // 2]
        sheet.text(left + 6, top + 28, name, anchor="start", bold=True, size=15.5)
        sheet.text(left + 6, top + 48, meaning, anchor="start", colour=MUTED)
        draw_map(sheet, (left + 62, top + 108), (25, 19), maps[key])
    return sheet.svg()


def articles() -> str:
    """The same sentence by two models that differ in label smoothing alone."""
    maps = load_maps()
    told = f"Without: {_articles_told(maps['walk-plain'])}. With it: {_articles_told(maps['walk'])}."
    sheet = Sheet("What an article looks at, without and with label smoothing", told, 306)
    for place, (key, name) in enumerate((("walk-plain", "without smoothing"), ("walk", "label smoothing 0.1"))):
        left = place * 234.0 + 10
        sheet.text(left + 6, 30, name, anchor="start", bold=True, size=15.5)
        draw_map(sheet, (left + 56, 96), (20, 21), maps[key])
    return sheet.svg()


def _articles_told(seen: Seen) -> str:
    rows = [row for row, word in enumerate(seen.target) if word in ("le", "la", "les")]
    return ", ".join(f"{seen.target[row]} looks most at {_most(seen, row)}" for row in rows)


def _most(seen: Seen, row: int) -> str:
    weights = seen.weights[row]
    best = max(range(len(weights)), key=lambda column: weights[column])
    return f"{seen.source[best]} {weights[best]:.2f}"


def draw_map(sheet: Sheet, corner: Point, cell: Point, seen: Seen, *, numbers: bool = False) -> None:
    """A heat-map with its words; the corner is that of the first cell."""
    left, top = corner
    for column, word in enumerate(seen.source):
        tilted(sheet, left + (column + 0.45) * cell[0], top - 7, word, colour=GREY if word == "EOS" else INK)
    for row, word in enumerate(seen.target):
        colour = GREY if word == "EOS" else INK
        sheet.text(left - 8, top + (row + 0.5) * cell[1] + 5, word, anchor="end", colour=colour)
    heatmap(sheet, corner, cell, seen.weights, numbers=numbers)


def _scale(sheet: Sheet, corner: Point) -> None:
    x, y = corner
    for step in range(20):
        share = step / 19
        sheet.box((x + step * 5, y), (5.5, 12), fill=mixed(WHITE, PURPLE, share**0.8), radius=0)
    sheet.polyline([(x, y), (x + 100, y), (x + 100, y + 12), (x, y + 12), (x, y)], Stroke(MUTED, 1))
    sheet.text(x - 8, y + 12, "0", anchor="end", colour=MUTED)
    sheet.text(x + 108, y + 12, "1", anchor="start", colour=MUTED)
    sheet.text(x - 26, y + 12, "weight", anchor="end", colour=MUTED)
