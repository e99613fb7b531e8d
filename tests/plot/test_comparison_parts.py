"""What a comparison's page is made of: lines with a legend, small heat-maps in a row, plain tables."""

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
from regard.plot.lines import stroke


def parsed(html: str) -> ElementTree.Element:
    """The markup is well formed: every name was escaped."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_lines_reach_from_the_first_point_to_the_last_within_the_axes() -> None:
    page = parsed(lines_html("BLEU", [Series.of("a < b", [100, 200], [0, 100]), Series.of("c & d", [50], [25.0])]))
    svg = next(page.iter("svg"))  # the others are samples in the legend
    paths = [one.attrib["d"] for one in svg.iter("path")]
    ends = [tuple(map(float, place.split())) for place in re.findall(r"[ML]([0-9. ]+)", paths[0])]
    (left, bottom), (right, top) = ends
    assert left < right
    assert bottom > top  # 100 is drawn above 0
    assert len(list(svg.iter("circle"))) == 3
    assert "a < b" in "".join(page.itertext())
    with pytest.raises(ValueError, match="no line to draw for 'BLEU'"):
        lines_html("BLEU", [Series.of("empty", [], [])])


def test_twenty_five_lines_look_different() -> None:
    assert len({stroke(number) for number in range(25)}) == 25


def test_a_long_legend_leaves_the_chart() -> None:
    few = LengthQuality("BLEU", ("1–5",), (3,), (System("short", (50.0,)),))
    many = LengthQuality("BLEU", ("1–5",), (3,), tuple(System(f"a rather long name {i}", (50.0,)) for i in range(8)))
    assert 'class="legend' not in chart_html(few)
    assert 'class="legend' in chart_html(many)
    for quality in (few, many):
        assert all(system.name in chart_html(quality) for system in quality.systems)


def test_maps_in_a_row_show_every_weight_gold_and_no_attention() -> None:
    weights = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    links = Links.of([(0, 0), (1, 1)])
    seen = AttentionMap.of(weights, ["the", "<cat>"], ["le", "chat", "x" * 30], links=links)
    blind = AttentionMap.of(None, ["a"], ["b"])
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
