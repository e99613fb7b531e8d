"""Writes hindi.json: the Hindi words of the pictures as outlines, so that they show on machines without the font.

python docs/story/trace_hindi.py NotoSansDevanagari-Regular.ttf    (needs the packages uharfbuzz and fonttools)
"""

import json
import sys
from pathlib import Path

import uharfbuzz
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

WORDS = ("लाइट", "बंद", "करो")


def outline(word: str, path: Path) -> dict[str, object]:
    """The shaped word in font units, y upwards, and how far the pen moves."""
    font = TTFont(path)
    glyphs, order = font.getGlyphSet(), font.getGlyphOrder()
    buffer = uharfbuzz.Buffer()
    buffer.add_str(word)
    buffer.guess_segment_properties()
    uharfbuzz.shape(uharfbuzz.Font(uharfbuzz.Face(uharfbuzz.Blob.from_file_path(str(path)))), buffer)
    pen, x = SVGPathPen(glyphs, ntos=lambda value: str(round(value))), 0
    for info, place in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        shifted = TransformPen(pen, (1, 0, 0, 1, x + place.x_offset, place.y_offset))
        glyphs[order[info.codepoint]].draw(shifted)
        x += place.x_advance
    return {"path": pen.getCommands(), "advance": x, "units": font["head"].unitsPerEm}


if __name__ == "__main__":
    font = Path(sys.argv[1])
    record = {
        "font": "Noto Sans Devanagari, SIL Open Font License 1.1",
        "words": {one: outline(one, font) for one in WORDS},
    }
    target = Path(__file__).with_name("hindi.json")
    target.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
