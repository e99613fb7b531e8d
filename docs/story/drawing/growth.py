"""Page 5: the map of one sentence while the model still learns."""

import json
from pathlib import Path

from drawing.canvas import Sheet
from drawing.maps import Seen, draw_map

GROWTH = Path(__file__).parents[1] / "growth.json"


def growth() -> str:
    """Four moments of one training; the translation is given, so that the rows stay the same."""
    found = json.loads(GROWTH.read_text(encoding="utf-8"))["steps"]
    sheet = Sheet(
        "Attention grows while the model learns",
        "Four heat-maps of the same sentence, after "
        + ", ".join(found)
        + " steps: at first every row is alike; then each looks at its neighbourhood;"
        " at the end most rows have nearly all of their weight on one word.",
        620,
    )
    for place, (step, one) in enumerate(found.items()):
        left, top = (place % 2) * 234.0 + 10, (place // 2) * 308.0
        seen = Seen(tuple(one["source"]), tuple(one["target"]), tuple(tuple(row) for row in one["weights"]))
        sheet.text(left + 6, top + 30, f"after {int(step):,} steps", anchor="start", bold=True, size=15.5)
        draw_map(sheet, (left + 56, top + 96), (20, 21), seen)
    return sheet.svg()
