"""Writes the fonts of the page: the typefaces of regard.plot as WOFF2.

    pip install fonttools brotli
    python studio/make_fonts.py

The typefaces are subsets of Noto fonts already (benchmarks/typefaces.py, OFL 1.1); hinting is dropped here.
"""

from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[1]
TYPEFACES = ROOT / "src" / "regard" / "plot" / "typefaces"
OUT = ROOT / "src" / "regard" / "server" / "page" / "fonts"


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for path in sorted(TYPEFACES.glob("*.ttf")):
        with TTFont(path, recalcTimestamp=False) as font:
            subsetter = Subsetter(Options(layout_features=["*"], notdef_outline=True, hinting=False))
            subsetter.populate(unicodes=font.getBestCmap())
            subsetter.subset(font)
            font.flavor = "woff2"
            font.save(OUT / f"{path.stem}.woff2")
    licence = (TYPEFACES / "OFL.txt").read_text(encoding="utf-8")
    (OUT / "OFL.txt").write_text(licence, encoding="utf-8")


if __name__ == "__main__":
    main()
