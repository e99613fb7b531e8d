"""Fonts inside an HTML page: the glyphs of its own text, so that it looks right where no such font is installed."""

import base64
import re
from functools import lru_cache
from io import BytesIO

from regard.plot.fonts import TYPEFACES

FAMILY = "regard"
"""The family that the page names first; a page without embedded fonts has no such family and takes the next."""
_SCRIPTS = {
    "devanagari.ttf": "\u0900-\u097f",
    "kana.ttf": "\u3000-\u30ff\uff01-\uff1f",
    "hangul.ttf": "\u1100-\u11c2\u3131-\u3163\uac00-\ud7a3",
    "symbols.ttf": "\u2400-\u2421",
}
"""The characters for which a page embeds each typeface; the reader's own fonts draw all others."""
_SHAPING = "\u200c\u200d\u25cc"  # joiner, non-joiner, and the circle under a vowel sign without its consonant


def font_faces(text: str) -> str:
    """CSS rules with every character of `text` that our typefaces have; empty for a text that needs none of them."""
    return "".join(
        _font_face(name, "".join(sorted({*found, *_SHAPING})))
        for name, characters in _SCRIPTS.items()
        if (found := re.findall(f"[{characters}]", text))
    )


@lru_cache(maxsize=64)
def _font_face(name: str, characters: str) -> str:
    """One rule: a subset with the conjuncts that `characters` can form, as WOFF; empty if the typeface has none."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    with TTFont(TYPEFACES / name, recalcTimestamp=False) as font:
        present = sorted({ord(character) for character in characters} & font.getBestCmap().keys())
        if not present:
            return ""
        # All features: our typefaces hold only those that shape a script.
        subsetter = Subsetter(Options(layout_features=["*"], notdef_outline=True))
        subsetter.populate(unicodes=present)
        subsetter.subset(font)
        font.flavor = "woff"
        buffer = BytesIO()
        font.save(buffer)
    data = base64.b64encode(buffer.getvalue()).decode()
    points = ",".join(f"U+{point:X}" for point in present)
    return (
        f'@font-face {{ font-family: "{FAMILY}"; unicode-range: {points};'
        f' src: url(data:font/woff;base64,{data}) format("woff"); }}\n'
    )
