"""Fonts: every word gets a font that has it, and where none has, one message names the package."""

import warnings
from pathlib import Path

import pytest

from regard.plot import AttentionMap, MissingFontWarning, choose_fonts, figure, heatmap, picture
from regard.plot.fonts import BASE_FAMILY, BOXES_FAMILY, FontFile, installed_fonts

HINDI = "लाइट बंद करो क्ष बिल्ली"


def only_latin() -> list[FontFile]:
    return [font for font in installed_fonts() if font.family in (BASE_FAMILY, BOXES_FAMILY)]


def has_devanagari() -> bool:
    return not choose_fonts([HINDI]).missing


def test_french_needs_no_other_font() -> None:
    assert choose_fonts(["où était l'œuf ? « là »"]).families == (BASE_FAMILY, BOXES_FAMILY)


def test_devanagari_gets_one_font_that_has_all_of_it() -> None:
    if not has_devanagari():
        pytest.skip("no Devanagari font installed; on Debian: apt-get install fonts-noto-core")
    choice = choose_fonts([HINDI, "chat"])
    assert len(choice.families) == 3, "the base, one for Devanagari, and the boxes"
    assert choice.message == ""


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


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
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
    if not has_devanagari():
        pytest.skip("no Devanagari font installed; on Debian: apt-get install fonts-noto-core")
    families = choose_fonts([HINDI]).families
    width = {text: figure.text_size(text, families, 40)[0] for text in ("क्ष", "क", "ष", "्")}
    assert width["क्ष"] < 0.9 * (width["क"] + width["ष"])
