"""Draws every picture of the story: `python docs/story/make_pictures.py [FOLDER]`, docs/story/pictures if left out.

The same input gives the same bytes. Numbers come from the NumPy references, from maps.json, which measure_maps.py
writes from trained models, and from docs/results/length.json, which benchmarks/length_curve.py writes.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from drawing.decoding import beam, packing, teacher_forcing
from drawing.heads import multi_head, views
from drawing.length import length
from drawing.luong import windows, wiring
from drawing.maps import articles, patterns, walk
from drawing.reading import bottleneck, spotlight
from drawing.timeline import timeline
from drawing.worked import simulation, step

PICTURES: dict[str, Callable[[], str]] = {
    "articles": articles,
    "beam": beam,
    "bottleneck": bottleneck,
    "length": length,
    "multi-head": multi_head,
    "packing": packing,
    "patterns": patterns,
    "simulation": simulation,
    "spotlight": spotlight,
    "step": step,
    "teacher-forcing": teacher_forcing,
    "timeline": timeline,
    "views": views,
    "walk": walk,
    "windows": windows,
    "wiring": wiring,
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
