"""Fonts: every word gets a font that has it, our own first; where none has, one message names the package."""

import os
import warnings
from pathlib import Path

import matplotlib
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from regard.plot import AttentionMap, MissingFontWarning, choose_fonts, figure, heatmap, picture
from regard.plot.fonts import BASE_FAMILY, BOXES_FAMILY, TYPEFACES, FontFile, installed_fonts

HINDI = "लाइट बंद करो क्ष बिल्ली"
DRAWN = [
    HINDI, "१२३ है।", "ひらがな か゚ カメラー 。「」", "한국어 뛰 ㄱ", "␛ ␀", "ʃ̃ ɡ͡b t͡ɕʰ ɯ̟ː a˧˥",
    "адыгэ", "հայերեն", "ქართული", "Ελληνικά", "tiếng Việt", "العربية", "עברית", "▁␣∅�→",
]  # fmt: skip
CORPORA = Path(os.environ.get("REGARD_DATA", Path(__file__).parents[3] / "shared" / "data")) / "g2p-sigmorphon2020"


def only_latin() -> list[FontFile]:
    return [font for font in installed_fonts() if font.family in (BASE_FAMILY, BOXES_FAMILY)]


def bare() -> list[FontFile]:
    """The fonts of a machine without installed fonts: matplotlib's and ours."""
    brought = (Path(matplotlib.get_data_path()), TYPEFACES)
    return [font for font in installed_fonts() if any(Path(font.path).is_relative_to(place) for place in brought)]


def test_french_needs_no_other_font() -> None:
    assert choose_fonts(["où était l'œuf ? « là »"]).families == (BASE_FAMILY, BOXES_FAMILY)


@pytest.mark.parametrize("text", DRAWN)
def test_what_the_package_draws_needs_no_installed_font(text: str) -> None:
    assert choose_fonts([text], bare()).missing == ""


@pytest.mark.skipif(
    not CORPORA.is_dir(), reason="no copy of g2p-sigmorphon2020: set REGARD_DATA to a folder of corpora"
)
def test_words_and_phones_of_fifteen_languages_need_no_installed_font() -> None:
    words = ["".join(sorted({*path.read_text(encoding="utf-8")})) for path in CORPORA.glob("*.tsv")]
    assert len(words) == 45
    assert choose_fonts(words, bare()).missing == ""


def test_our_fonts_come_before_installed_ones_so_that_pictures_are_the_same_everywhere() -> None:
    installed = FontFile("Noto Sans Devanagari", str(TYPEFACES / "devanagari.ttf"))
    choice = choose_fonts([HINDI, "chat"], [installed, *bare()])
    assert choice.families == ("Regard Devanagari", BASE_FAMILY, BOXES_FAMILY)
    assert choice.message == ""


def test_text_beyond_our_subset_goes_to_an_installed_font_that_has_it_all(tmp_path: Path) -> None:
    from fontTools.ttLib import TTFont

    with TTFont(TYPEFACES / "hangul.ttf") as font:
        rare = "\uac02"
        assert ord(rare) not in font.getBestCmap()
        for table in font["cmap"].tables:
            table.cmap[ord(rare)] = font.getGlyphOrder()[1]
        font.save(tmp_path / "more.ttf")
    more = FontFile("Korean", str(tmp_path / "more.ttf"))
    assert choose_fonts([f"한{rare}"], [*bare(), more]).families == (BASE_FAMILY, "Korean", BOXES_FAMILY)
    assert choose_fonts([f"한{rare}"], bare()).missing == rare, "the rest is drawn"


def test_marks_of_several_scripts_come_from_several_fonts() -> None:
    assert choose_fonts(["है।", "ね。"], bare()).missing == ""


def test_licence_lies_beside_the_fonts() -> None:
    licence = (TYPEFACES / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    for path in TYPEFACES.glob("*.ttf"):
        assert path.name in licence
    assert sum(path.stat().st_size for path in TYPEFACES.iterdir()) < 400_000


def test_without_a_font_the_message_names_script_characters_and_packages() -> None:
    choice = choose_fonts([HINDI], only_latin())
    assert choice.families == (BASE_FAMILY, BOXES_FAMILY)
    assert set(choice.missing) == set(HINDI) - {" "}
    for part in (
        "Devanagari characters इ क",
        "drawn as boxes",
        "fonts-noto-core",
        "Noto Sans Devanagari",
        "macOS",
        "Windows",
    ):
        assert part in choice.message


@pytest.mark.parametrize(
    ("text", "script", "package"),
    [("猫", "CJK", "fonts-noto-cjk"), ("ひ", "Hiragana", "fonts-noto-cjk"), ("🙂", "Symbol", "fonts-symbola")],
)
def test_other_scripts_have_other_packages(text: str, script: str, package: str) -> None:
    message = choose_fonts([text], only_latin()).message
    assert f"the {script} characters {text}" in message
    assert package in message


def test_invalid_font_files_are_skipped(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"not a font")
    fonts = [*only_latin(), FontFile("Noto Sans Devanagari", str(broken))]
    assert choose_fonts([HINDI], fonts).missing


def test_a_figure_without_the_font_is_drawn_with_boxes_and_one_warning(
    lights: AttentionMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure, "choose_fonts", lambda texts: choose_fonts(texts, only_latin()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawn = picture(heatmap(lights))
    assert [warning.category for warning in caught] == [MissingFontWarning], "matplotlib's own warnings stay inside"
    assert "fonts-noto-core" in str(caught[0].message)
    assert drawn.startswith(b"\x89PNG")


def test_devanagari_is_shaped_not_spelled_out() -> None:
    """The conjunct क्ष is one glyph, narrower than क and ष side by side."""
    families = choose_fonts([HINDI], bare()).families
    width = {text: figure.text_size(text, families, 40)[0] for text in ("क्ष", "क", "ष", "्")}
    assert width["क्ष"] < 0.9 * (width["क"] + width["ष"])


def test_a_vowel_sign_that_is_written_before_its_consonant_is_drawn_there() -> None:
    font = FontProperties(family=list(choose_fonts([HINDI], bare()).families))
    consonant, syllable = (TextPath((0, 0), text, size=100, prop=font).vertices for text in ("क", "कि"))
    assert consonant[:, 0].min() < 5
    shifted = consonant[:, 0].max() - syllable[:, 0].max()
    assert shifted < -15, "the outline of क stands at the right, after the sign"
    moved = {(round(x - shifted), round(y)) for x, y in consonant}
    assert len(moved & {(round(x), round(y)) for x, y in syllable}) > 0.8 * len(moved)


def test_joiners_come_from_the_font_of_their_letters() -> None:
    """Otherwise matplotlib's PDF draws ष over क: it applies the kern at a change of fonts twice."""
    word = "क्\u200cष"
    drawing = figure.new_figure(1, 1)
    drawing.text(0.5, 0.5, word, family=list(choose_fonts([word], bare()).families))
    page = picture(drawing, "pdf")
    assert b"RegardDevanagari-Regular" in page
    assert b"DejaVu" not in page
