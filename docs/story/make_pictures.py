"""Draws every picture of the story: `python docs/story/make_pictures.py [FOLDER]`, docs/story/pictures if left out.

The same input gives the same bytes. Numbers come from the NumPy references, from maps.json and growth.json, which
measure_maps.py and measure_growth.py write from trained models, and from docs/results/length.json, which
benchmarks/length_curve.py writes.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from drawing.beyond import memories
from drawing.decoding import beam, packing, teacher_forcing
from drawing.growth import growth
from drawing.heads import multi_head, views
from drawing.length import length
from drawing.luong import windows, wiring
from drawing.maps import articles, patterns, walk
from drawing.reading import bottleneck, spotlight
from drawing.timeline import timeline
from drawing.transformer import block, query_key_value, waves
from drawing.unrolled import unrolled
from drawing.worked import simulation, step

PICTURES: dict[str, Callable[[], str]] = {
    "articles": articles,
    "beam": beam,
    "block": block,
    "bottleneck": bottleneck,
    "growth": growth,
    "length": length,
    "memories": memories,
    "multi-head": multi_head,
    "packing": packing,
    "patterns": patterns,
    "query-key-value": query_key_value,
    "simulation": simulation,
    "spotlight": spotlight,
    "step": step,
    "teacher-forcing": teacher_forcing,
    "timeline": timeline,
    "unrolled": unrolled,
    "views": views,
    "walk": walk,
    "waves": waves,
    "windows": windows,
    "wiring": wiring,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
