"""Makes the typefaces in the package: subsets of Noto fonts with characters that matplotlib's DejaVu Sans lacks.

    apt-get download fonts-noto-core fonts-noto-cjk            # 20201225-1 and 1:20220127+repack1-1 (Debian 12)
    for package in fonts-noto-*.deb; do dpkg-deb -x $package noto; done
    REGARD_DATA=DIR python benchmarks/typefaces.py noto [--out src/regard/plot/typefaces]

Devanagari whole, with the conjuncts and vowel signs of its layout tables; kana; the Hangul syllables of the Korean part
of g2p-sigmorphon2020; the pictures of control characters that `regard.plot` draws. Other versions of Noto or fontTools
give other bytes. Noto is under the SIL Open Font License 1.1 and reserves no font name; the subsets have names of their
own nevertheless, so that matplotlib and browsers never confuse them with an installed Noto.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from fontTools import subset
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable

OUT = Path(__file__).parents[1] / "src" / "regard" / "plot" / "typefaces"
JAMO = {*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3), *range(0x3131, 0x3164)}
SYLLABLES = range(0xAC00, 0xD7A4)
COPYRIGHT, FAMILY, UNIQUE, FULL, POSTSCRIPT = 0, 1, 3, 4, 6
KEPT_NAMES = (COPYRIGHT, FAMILY, 2, UNIQUE, FULL, 5, POSTSCRIPT, 7, 13, 14)
ENGLISH = 0x409


@dataclass(frozen=True)
class Typeface:
    """One file of the package: which characters of which font."""

    name: str
    source: str
    characters: set[int]
    number: int = 0

    @property
    def family(self) -> str:
        return f"Regard {self.name}"


def typefaces(corpora: Path) -> list[Typeface]:
    """What DejaVu Sans lacks of the scripts that the package's data, demo and course draw."""
    korean = "".join(path.read_text(encoding="utf-8") for path in sorted(corpora.rglob("kor_*.tsv")))
    if not korean:
        raise SystemExit(f"no kor_*.tsv under {corpora}: regard data get g2p-sigmorphon2020 brings them")
    kana = {*range(0x3000, 0x3004), *range(0x3005, 0x3012), *range(0x3041, 0x3097), *range(0x3099, 0x3100)}
    fullwidth = {ord(character) for character in "！（），：；？"}
    joiners = {0x200B, 0x200C, 0x200D, 0x25CC}  # the dotted circle carries a vowel sign without its consonant
    return [
        Typeface("Devanagari", "NotoSansDevanagari-Regular.ttf", {*range(0x0900, 0x0980), *joiners}),
        Typeface("Kana", "NotoSansCJK-Regular.ttc", kana | fullwidth, number=0),
        Typeface("Hangul", "NotoSansCJK-Regular.ttc", JAMO | ({*map(ord, korean)} & {*SYLLABLES}), number=1),
        Typeface("Symbols", "NotoSansSymbols2-Regular.ttf", {*range(0x2400, 0x2422)}),
    ]


def cut(typeface: Typeface, noto: Path, out: Path) -> Path:
    """Write the subset: the layout features that shape a script, no hints, no other languages' names."""
    (source,) = noto.rglob(typeface.source)
    font = TTFont(source, fontNumber=typeface.number, recalcTimestamp=False)
    options = subset.Options(hinting=False, notdef_outline=True, name_IDs=list(KEPT_NAMES), name_languages=[ENGLISH])
    if "CFF " in font:  # the defaults keep vertical and proportional forms of kana, which nothing here uses
        options.layout_features = ["ccmp", "kern", "liga", "locl", "mark", "mkmk", "ljmo", "vjmo", "tjmo"]
    options.drop_tables = [*options.drop_tables, "vhea", "vmtx", "VORG", "BASE"]
    lacking = typeface.characters - font.getBestCmap().keys()
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=typeface.characters - lacking)
    chosen.subset(font)
    if "CFF " in font:
        make_truetype(font)
    rename(font, typeface)
    path = out / f"{typeface.name.lower()}.ttf"
    font.save(path)
    print(f"{path.name}: {path.stat().st_size:,} bytes, {len(font.getBestCmap())} characters; {len(lacking)} not there")
    return path


def rename(font: TTFont, typeface: Typeface) -> None:
    """A family of our own in every table that says a name; copyright, trademark and licence stay."""
    names = font["name"]
    original = names.getDebugName(FULL)
    compact = typeface.family.replace(" ", "")
    for number, text in {
        COPYRIGHT: f"{names.getDebugName(COPYRIGHT)} Subset of {original} for regard.",
        FAMILY: typeface.family,
        UNIQUE: f"{compact}; subset of {original}",
        FULL: f"{typeface.family} Regular",
        POSTSCRIPT: f"{compact}-Regular",
    }.items():
        names.setName(text, number, 3, 1, ENGLISH)
    names.names = [record for record in names.names if record.platformID == 3]


def make_truetype(font: TTFont) -> None:
    """Quadratic outlines in place of CFF's cubic ones: matplotlib's PDF embeds every font as if it were TrueType."""
    order, shapes, glyphs = font.getGlyphOrder(), font.getGlyphSet(), {}
    for name in order:
        pen = TTGlyphPen(shapes)
        shapes[name].draw(Cu2QuPen(pen, max_err=2.0, reverse_direction=True))
        glyphs[name] = pen.glyph()
    font["loca"], font["glyf"] = newTable("loca"), newTable("glyf")
    font["glyf"].glyphOrder, font["glyf"].glyphs = order, glyphs
    del font["CFF "]
    font["glyf"].compile(font)
    font["maxp"].tableVersion, font["post"].formatType, font.sfntVersion = 0x00010000, 3.0, "\0\1\0\0"
    unused = ("TwilightPoints", "Storage", "FunctionDefs", "InstructionDefs", "StackElements", "SizeOfInstructions")
    for limit in (*unused, "ComponentElements"):
        setattr(font["maxp"], f"max{limit}", 0)
    font["maxp"].maxZones = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("noto", type=Path, help="folder with the unpacked Debian packages")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    paths = [cut(typeface, arguments.noto, arguments.out) for typeface in typefaces(Path(os.environ["REGARD_DATA"]))]
    print(f"together {sum(path.stat().st_size for path in paths):,} bytes")


if __name__ == "__main__":
    main()
