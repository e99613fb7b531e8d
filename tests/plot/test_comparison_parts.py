"""The parts of a comparison's page: charts with a legend, small heat-maps in a row, plain tables."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from regard.alignment import Links
from regard.plot import (
    AttentionMap,
    LengthQuality,
    Series,
    System,
    chart_html,
    lines_html,
    page_html,
    side_by_side_html,
    table_html,
)
from regard.plot.figure import line_style


def parsed(html: str) -> ElementTree.Element:
    """The markup is well formed: every name was escaped."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_learning_curves_are_lines_from_the_first_point_to_the_last() -> None:
    several = [Series.of("a < b", [100, 200], [0, 100]), Series.of("c & d", [50], [25.0]), Series.of("empty", [], [])]
    page = parsed(lines_html("BLEU", several))
    first = next(one for one in page.iter("path") if "stroke: var(--series-0)" in one.attrib.get("style", ""))
    ends = [tuple(map(float, place.split())) for place in re.findall(r"[ML]([0-9. ]+)", first.attrib["d"])]
    (left, bottom), (right, top) = ends
    assert left < right
    assert bottom > top, "100 is drawn above 0"
    text = "".join(page.itertext())
    assert "a < b" in text
    assert "c & d" in text
    assert "empty" not in text
    with pytest.raises(ValueError, match="no line to draw for 'BLEU'"):
        lines_html("BLEU", [Series.of("empty", [], [])])


def test_28_lines_look_different() -> None:
    assert len({tuple(line_style(number).values()) for number in range(28)}) == 28


def test_charts_follow_the_page_s_theme_and_fonts_and_share_no_ids() -> None:
    """Two charts on one page: their ids may only be names of equal definitions, which a hash of the content makes."""
    systems = tuple(System(f"a rather long name {number}", (50.0, 40)) for number in range(9))
    quality = LengthQuality("BLEU", ("1–5", "6+"), (3, 4), systems)
    chart = chart_html(quality)
    assert all(system.name in chart for system in quality.systems)
    for number in range(7):
        assert f"var(--series-{number})" in chart
    assert not re.search('#[0-9a-f]{6}[;"]', chart)
    assert "font-family" not in chart
    assert all(re.fullmatch("[a-z][0-9a-f]{10}", name) for name in re.findall(r' id="([^"]*)"', chart))


def test_a_chart_with_missing_glyphs_gives_no_warning() -> None:
    chart_html(LengthQuality("BLEU", ("1",), (3,), (System("𒀀 猫", (50.0,)),)))


def test_maps_in_a_row_show_every_weight_gold_and_no_attention() -> None:
    weights = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    links = Links.of([(0, 0), (1, 1)])
    seen = AttentionMap(weights, ["the", "<cat>"], ["le", "chat", "x" * 30], links=links)
    blind = AttentionMap(None, ["a"], ["b"])
    page = parsed(side_by_side_html([("one & two", seen), ("vanilla", blind)]))
    cells = [one for one in page.iter("rect") if one.attrib["class"] == "cell"]
    assert [float(one.attrib["fill-opacity"]) for one in cells] == weights.ravel().tolist()
    assert len([one for one in page.iter("rect") if one.attrib["class"] == "gold"]) == 2
    text = "".join(page.itertext())
    assert "<cat>" in text
    assert "…" in text  # a long word is cut
    assert "one fixed vector: no alignment exists" in text


def test_a_table_keeps_words_to_the_left_and_escapes() -> None:
    page = parsed(table_html("x", ["variant", "BLEU", "wrote"], [["a<b", "1.0", "déjà & vu"]], words=["wrote"]))
    looks = [cell.attrib.get("class") for cell in page.iter("td")]
    assert looks == ["number", None]
    assert "a<b" in "".join(page.itertext())
    assert "<title>A &amp; B</title>" in page_html("A & B", ["<p>x</p>"])
