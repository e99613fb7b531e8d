"""Fonts that have the glyphs of the words to be drawn: our own first, then installed ones, else what to install.

An HTML page embeds the glyphs of its own text, so that it looks right where no such font is installed.
"""

import base64
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path

TYPEFACES = Path(__file__).parent / "typefaces"
"""Subsets of Noto fonts for what the base family lacks; benchmarks/typefaces.py makes them."""
OWN_FAMILIES = "Regard "  # how their names begin
BASE_FAMILY = "DejaVu Sans"  # comes with matplotlib: Latin, phonetic letters, Greek, Cyrillic, Arabic, our symbols
BOXES_FAMILY = "Last Resort High-Efficiency"  # comes with matplotlib too: a box for every character there is

_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
# Fonts known to shape their script well, tried before others that merely contain the characters.
_PREFERRED = {
    "DEVANAGARI": ("Noto Sans Devanagari", "Kohinoor Devanagari", "Nirmala UI", "Lohit Devanagari", "Mangal"),
    "CJK": ("Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "WenQuanYi Zen Hei"),
    "HIRAGANA": ("Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic"),
    "KATAKANA": ("Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic"),
    "HANGUL": ("Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic"),
}

PAGE_FAMILY = "regard"
"""The family that the page names first; a page without embedded fonts has no such family and takes the next."""
_EMBEDDED = {
    "devanagari.ttf": "\u0900-\u097f",
    "kana.ttf": "\u3000-\u30ff\uff01-\uff1f",
    "hangul.ttf": "\u1100-\u11c2\u3131-\u3163\uac00-\ud7a3",
    "symbols.ttf": "\u2400-\u2421",
}
"""The characters for which a page embeds each typeface; the reader's own fonts draw all others."""
_SHAPING = "\u200c\u200d\u25cc"  # joiner, non-joiner, and the circle under a vowel sign without its consonant


class MissingFontWarning(UserWarning):
    """Some words are drawn as boxes; the message names the fonts to install."""


@dataclass(frozen=True)
class FontFile:
    """One face that matplotlib may draw with."""

    family: str
    path: str
    face: int = 0


@dataclass(frozen=True)
class FontChoice:
    """Font families for matplotlib, in this order, and the characters that none of them has."""

    families: tuple[str, ...]
    missing: str = ""

    @property
    def message(self) -> str:
        """A message with the missing characters and the packages to install; empty when every character has a glyph."""
        if not self.missing:
            return ""
        scripts = sorted({_script(character) for character in self.missing})
        fonts = sorted({_font_to_install(script)[0] for script in scripts})
        packages = sorted({_font_to_install(script)[1] for script in scripts})
        named = " and ".join(script if script == "CJK" else script.title() for script in scripts)
        sample = " ".join(self.missing[:8]) + (" …" if len(self.missing) > 8 else "")
        return (
            f"no installed font has the {named} characters {sample}:"
            f" they are drawn as boxes. Install {' and '.join(fonts)}:"
            f" on Debian or Ubuntu `apt-get install {' '.join(packages)}`;"
            " on macOS (Font Book) or Windows (Settings, Fonts) add the font from fonts.google.com/noto"
        )


def choose_fonts(texts: Iterable[str], fonts: Sequence[FontFile] | None = None) -> FontChoice:
    """The fewest families that have every character of `texts`; `fonts` replaces the installed ones.

    If possible, one font draws a whole script: conjuncts and vowel signs are shaped only inside a single font.
    """
    available = installed_fonts() if fonts is None else tuple(fonts)
    wanted = {character for text in texts for character in text if _has_ink(character)}
    families = [BASE_FAMILY]
    base = next(font for font in (*available, *installed_fonts()) if font.family == BASE_FAMILY)
    wanted -= _glyphs(base.path, base.face)
    missing: set[str] = set()
    searched_again = fonts is not None
    while wanted:
        script = _script(min(wanted))
        of_script = {character for character in wanted if _script(character) == script}
        best, covered = _best_font(script, of_script, available)
        if covered != of_script and not searched_again:
            searched_again = True
            _add_new_fonts()
            available = installed_fonts()
            continue
        if best is None:
            missing |= of_script
            wanted -= of_script
        else:
            # Ours have no Latin and go first: a joiner must come from the font that shapes the letters around it.
            families.insert(0 if best.startswith(OWN_FAMILIES) else len(families), best)
            wanted -= covered
    if any(font.family == BOXES_FAMILY for font in installed_fonts()):
        # Named here, matplotlib draws its boxes without one warning for each character.
        families.append(BOXES_FAMILY)
    letters_first = sorted(missing, key=lambda character: (unicodedata.category(character)[0] == "M", character))
    return FontChoice(tuple(families), "".join(letters_first))


def installed_fonts() -> tuple[FontFile, ...]:
    """Upright faces of normal weight: those that matplotlib knows, and ours, which it knows from now on."""
    from matplotlib.font_manager import fontManager

    known = {entry.fname for entry in fontManager.ttflist}
    for path in sorted(TYPEFACES.glob("*.ttf")):
        if str(path) not in known:
            fontManager.addfont(str(path))
    upright = (e for e in fontManager.ttflist if e.style == "normal" and e.weight in (400, "normal", "regular"))
    return tuple(FontFile(entry.name, entry.fname, entry.index) for entry in upright)


def _add_new_fonts() -> None:
    """Register fonts that were installed after matplotlib cached its list."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {entry.fname for entry in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - known):
        with suppress(OSError, RuntimeError, ValueError):  # a damaged file must not stop a drawing that never uses it
            fontManager.addfont(path)


def _best_font(script: str, wanted: set[str], fonts: Sequence[FontFile]) -> tuple[str | None, set[str]]:
    """The first font in order of preference that has all of `wanted`, or else the one that has most.

    Ours come first: a picture looks the same on every machine.
    """
    preferred = (*_PREFERRED.get(script, ()), _font_to_install(script)[0])

    def order(font: FontFile) -> tuple[bool, int, bool, bool, str]:
        rank = preferred.index(font.family) if font.family in preferred else len(preferred)
        return (
            not font.family.startswith(OWN_FAMILIES),
            rank,
            script.lower() not in font.family.lower(),
            "sans" not in font.family.lower(),
            font.family,
        )

    best: str | None = None
    covered: set[str] = set()
    for font in sorted(fonts, key=order):
        if font.family == BOXES_FAMILY:
            continue
        has = wanted & _glyphs(font.path, font.face)
        if len(has) > len(covered):
            best, covered = font.family, has
        if covered == wanted:
            break
    return best, covered


@cache
def _glyphs(path: str, face: int) -> frozenset[str]:
    """Every character of a font file, read by the same FreeType that draws it; none for a file it cannot read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(chr(code) for code in FT2Font(path, face_index=face).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def _has_ink(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")


def _script(character: str) -> str:
    """The first word of a letter's name, which is its script: DEVANAGARI, CJK, ETHIOPIC; anything else is a SYMBOL."""
    if unicodedata.category(character)[0] not in "LM":
        return "SYMBOL"
    return unicodedata.name(character, "UNNAMED").split()[0].split("-")[0]


def _font_to_install(script: str) -> tuple[str, str]:
    """The name of a font that has this script, and the Debian package that holds it."""
    if script in _EAST_ASIAN:
        return "Noto Sans CJK", "fonts-noto-cjk"
    return ("Symbola", "fonts-symbola") if script == "SYMBOL" else (f"Noto Sans {script.title()}", "fonts-noto-core")


def font_faces(text: str) -> str:
    """CSS rules with every character of `text` that our typefaces have; empty for a text that needs none of them."""
    return "".join(
        _font_face(name, "".join(sorted({*found, *_SHAPING})))
        for name, characters in _EMBEDDED.items()
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
        f'@font-face {{ font-family: "{PAGE_FAMILY}"; unicode-range: {points};'
        f' src: url(data:font/woff;base64,{data}) format("woff"); }}\n'
    )
