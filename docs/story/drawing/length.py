"""Page 1: BLEU by sentence length, from the figures that benchmarks/length_curve.py wrote."""

import json
from pathlib import Path

from drawing.canvas import BLUE, MUTED, ORANGE, RULE, Point, Sheet, Stroke
from drawing.shapes import ruler

MEASURED = Path(__file__).parents[2] / "results" / "length.json"
LEFT, RIGHT, TOP, BASE = 52.0, 456.0, 84.0, 284.0


def length() -> str:
    record = json.loads(MEASURED.read_text(encoding="utf-8"))
    fixed, attention = (one["by_length"] for one in record["systems"].values())
    sheet = Sheet(
        "BLEU by sentence length, with and without attention",
        f"Without attention BLEU falls from {fixed[0][3]:.0f} on sentences of 3 to 10 words to {fixed[-1][3]:.0f} on"
        f" those of more than 110. With attention it goes from {attention[0][3]:.0f} to {attention[-1][3]:.0f}.",
        344,
    )
    sheet.heading(30, "BLEU by length, sentences never seen")
    sheet.text(16, 58, "●  additive attention", anchor="start", colour=ORANGE, bold=True)
    sheet.text(230, 58, "●  one fixed vector", anchor="start", colour=BLUE, bold=True)
    for mark in range(0, 101, 25):
        y = _height(mark)
        ruler(sheet, (LEFT - 6, y), (RIGHT + 8, y), RULE if mark else MUTED)
        sheet.text(LEFT - 12, y + 5, str(mark), anchor="end", colour=MUTED)
    for rows, colour in ((fixed, BLUE), (attention, ORANGE)):
        points: list[Point] = [(_middle(place, len(rows)), _height(row[3])) for place, row in enumerate(rows)]
        sheet.polyline(points, Stroke(colour, 2.6))
        for point in points:
            sheet.disc(point, 4.2, colour)
    for place, row in enumerate(fixed):
        if place % 2:
            sheet.text(_middle(place, len(fixed)), BASE + 22, str(row[1] or 120), colour=MUTED)
    sheet.text((LEFT + RIGHT) / 2, BASE + 46, "words in the source sentence (groups of ten, up to)", colour=MUTED)
    return sheet.svg()


def _middle(place: int, places: int) -> float:
    return LEFT + 12 + (RIGHT - LEFT - 24) * place / (places - 1)


def _height(bleu: float) -> float:
    return BASE - (BASE - TOP) * bleu / 100
