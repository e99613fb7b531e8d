"""Heat-maps read back from the artists of the figure: the right number at the right word, and nothing overlaps."""

import base64
import re
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable
from io import BytesIO
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from regard.plot import AttentionMap, heatmap, heatmaps, picture, save
from regard.plot.heatmap import ink_on

MapMaker = Callable[..., AttentionMap]


def matrix(figure: Figure, number: int = 1) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == f"sentence {number}")


def boxes(figure: Figure, texts: list) -> list:  # type: ignore[type-arg]
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    return [text.get_window_extent(renderer) for text in texts]


def test_rows_are_target_and_columns_are_source(cat: AttentionMap) -> None:
    axes = matrix(heatmap(cat))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["the", "black", "cat", "sat", "EOS"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["le", "chat", "noir", "était", "assis", "EOS"]
    np.testing.assert_array_equal(axes.images[0].get_array(), cat.drawn())
    assert axes.images[0].get_cmap().name == "Blues"
    assert axes.yaxis_inverted(), "the first target word is at the top"
    assert axes.xaxis.get_ticks_position() == "top"
    names = [text.get_text() for text in axes.texts]
    assert "source (read) →" in names
    assert "← target (written)" in names


def test_the_scale_is_the_same_for_every_sentence(lights: AttentionMap) -> None:
    assert lights.drawn().max() < 1
    assert matrix(heatmap(lights)).images[0].get_clim() == (0.0, 1.0)


def test_a_long_title_is_broken_not_the_figure_widened(random_map: MapMaker) -> None:
    assert heatmap(random_map(3, 3, title="word " * 40)).get_figwidth() < 6


def test_the_number_at_noir_and_black_is_theirs(cat: AttentionMap) -> None:
    numbers = {text.get_position(): text for text in matrix(heatmap(cat)).texts if text.get_text()[:2] in ("0.", "1.")}
    assert numbers[(1, 2)].get_text() == "0.93"
    assert numbers[(1, 2)].get_color() == "#ffffff"
    assert numbers[(2, 3)].get_text() == "0.26"
    assert numbers[(2, 3)].get_color() == "#000000"
    assert (4, 0) not in numbers, "a weight of zero carries no number"


def test_ink_always_reaches_the_contrast_of_normal_text() -> None:
    def luminance(colour: tuple[float, ...]) -> float:
        return float(
            np.dot(
                [0.2126, 0.7152, 0.0722],
                [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]],
            )
        )

    for weight in np.linspace(0, 1, 101):
        ground, ink = luminance(matplotlib.colormaps["Blues"](weight)), float(ink_on(weight) == "#ffffff")
        assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5


def test_gold_links_frame_their_cells_sure_solid_possible_dashed(cat: AttentionMap) -> None:
    frames = {patch.get_gid(): patch for patch in matrix(heatmap(cat)).patches}
    assert sorted(frames) == ["possible 3-3", "sure 0-0", "sure 1-2", "sure 2-1", "sure 3-4"]
    x, y = frames["sure 1-2"].get_xy()
    assert 0.5 <= x <= 0.6
    assert 1.5 <= y <= 1.6, "source 1 is column 1, target 2 is row 2"
    assert frames["sure 1-2"].get_linestyle() == "solid"
    assert frames["possible 3-3"].get_linestyle() != "solid"
    assert any("solid sure, dashed possible" in text.get_text() for text in matrix(heatmap(cat)).texts)


def test_the_end_mark_is_a_chip(cat: AttentionMap) -> None:
    ends = [text for text in matrix(heatmap(cat)).get_xticklabels() if text.get_text() == "EOS"]
    assert ends[0].get_bbox_patch() is not None
    assert b"&lt;/s&gt;" not in picture(heatmap(cat), "svg")


def test_a_word_with_dollars_is_a_word() -> None:
    made = AttentionMap(np.eye(2), ["$x$", "a_1"], ["$\\frac", "^2"], title="cost: $5 or $6 $\\bad$")
    axes = matrix(heatmap(made))
    assert not any(text.get_parse_math() for text in [*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts])
    picture(heatmap(made))


@pytest.mark.parametrize("size", [(1, 1), (3, 3), (9, 8), (20, 25), (2, 40), (60, 60), (80, 100)])
def test_nothing_overlaps_and_nothing_is_clipped(random_map: MapMaker, size: tuple[int, int]) -> None:
    title = "a title long enough to be broken into lines where the matrix is small, and a $ sign"
    figure = heatmap(random_map(*size, title=title, caption="a caption below"))
    axes = matrix(figure)
    columns, rows = axes.get_xticklabels(), axes.get_yticklabels()
    others = [text for text in axes.texts if len(text.get_text()) > 4]
    drawn = boxes(figure, [*columns, *rows, *others])
    for box in drawn:
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= figure.bbox.width + 1
        assert box.y1 <= figure.bbox.height + 1
    for upper, lower in pairwise(drawn[len(columns) : len(columns) + len(rows)]):
        assert upper.y0 >= lower.y1 - 1
    if columns[0].get_rotation() != 45:  # boxes of slanted words overlap although the words do not
        for left, right in pairwise(drawn[: len(columns)]):
            assert left.x1 <= right.x0 + 1
    for first, second in combinations(drawn[len(columns) + len(rows) :], 2):
        assert not first.overlaps(second)


def test_slanted_words_keep_a_line_of_distance(random_map: MapMaker) -> None:
    figure = heatmap(random_map(20, 25))
    labels = matrix(figure).get_xticklabels()
    assert labels[0].get_rotation() == 45
    step = matrix(figure).get_window_extent().width / 25
    assert step * np.sin(np.pi / 4) > labels[0].get_fontsize() * figure.dpi / 72


def test_numbers_are_written_where_they_fit(random_map: MapMaker, cat: AttentionMap) -> None:
    def count(figure: Figure) -> int:
        return sum(text.get_text().replace(".", "").isdigit() for text in matrix(figure).texts)

    assert count(heatmap(random_map(20, 25))) > 100
    assert count(heatmap(random_map(60, 60))) == 0
    assert count(heatmap(cat, numbers=False)) == 0


def test_several_sentences_stand_in_reading_order(cat: AttentionMap, lights: AttentionMap) -> None:
    figure = heatmaps([cat, lights, cat], columns=2)
    first, second, third = (matrix(figure, number).get_position() for number in (1, 2, 3))
    assert second.x0 > first.x1
    assert third.y1 < first.y0
    assert [text.get_text() for text in matrix(figure, 2).get_yticklabels()] == ["लाइट", "बंद", "करो"]
    assert sum(axes.get_label() == "scale" for axes in figure.axes) == 1


def test_rows_that_sum_to_less_than_1_get_a_note() -> None:
    made = AttentionMap(np.array([[0.3, 0.3]]), ["a", "b"], ["x"])
    below = matrix(heatmap(made)).texts[-1].get_text().replace("\n", " ")
    assert "up to 40% of a row's attention is missing" in below


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cat: heatmaps([]), "no sentences to draw"),
        (lambda cat: heatmaps([cat], columns=0), "columns is 0; expected 1 or more"),
        (lambda cat: heatmap(AttentionMap(None, ["a"], ["b"])), "one fixed vector"),
        (lambda cat: picture(heatmap(cat), "bmp"), "cannot draw the format 'bmp'; choose one of png, svg, pdf"),
        (lambda cat: save(heatmap(cat), "map.jpeg"), "map.jpeg ends in .jpeg; pictures end in .png, .svg or .pdf"),
        (lambda cat: save(heatmap(cat), "map"), "map ends in nothing"),
    ],
)
def test_invalid_maps_raise(cat: AttentionMap, call: Callable[[AttentionMap], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(cat)


@pytest.mark.parametrize("file_format", ["png", "svg", "pdf"])
def test_the_same_map_gives_the_same_bytes(cat: AttentionMap, file_format: str, tmp_path: Path) -> None:
    first, again = picture(heatmap(cat), file_format), picture(heatmap(cat), file_format)
    assert first == again
    assert save(heatmap(cat), tmp_path / f"map.{file_format}").read_bytes() == first
    if file_format == "svg":
        assert b"<dc:date>" not in first


def test_pdf_embeds_truetype_fonts(cat: AttentionMap, lights: AttentionMap) -> None:
    others = AttentionMap(np.eye(2), ["한국어", "ひらがな"], ["a", "b"])
    data = picture(heatmaps([cat, lights, others]), "pdf")
    assert b"/Subtype /CIDFontType2" in data
    assert b"/Subtype /Type3" not in data
    names = {b"DejaVuSans", b"RegardDevanagari-Regular", b"RegardHangul-Regular", b"RegardKana-Regular"}
    assert names <= set(re.findall(rb"/FontName /[A-Z]{6}\+(\S+)", data))
    streams = [data[found.end() :] for found in re.finditer(rb"/Length1 .*?stream\r?\n", data, re.DOTALL)]
    fonts = [zlib.decompressobj().decompress(stream) for stream in streams]
    assert len(fonts) >= 4
    assert all(font.startswith(b"\0\1\0\0") for font in fonts), "TrueType outlines, not CFF"


def test_text_in_an_svg_stays_text_and_brings_the_glyphs_it_needs(
    cat: AttentionMap, lights: AttentionMap, tmp_path: Path
) -> None:
    """A reader without a Devanagari font sees Hindi: the drawing needs nothing but the file."""
    text = picture(heatmap(lights), "svg").decode()
    svg = ElementTree.fromstring(text)
    words = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"turn", "lights", "लाइट", "बंद", "करो", "0.79"} <= {*words}
    fonts = re.findall(r"url\(data:font/woff;base64,([^)]+)\)", text)
    (font,) = (TTFont(BytesIO(base64.b64decode(data))) for data in fonts)
    assert {*"लाइटबंदकरो"} <= {chr(point) for point in font.getBestCmap()}
    assert all("font-family: regard, " in line for line in text.splitlines() if "<text" in line)
    assert "@font-face" not in picture(heatmap(cat), "svg").decode(), "French needs none of our typefaces"


def test_the_users_matplotlib_settings_are_ignored_and_unchanged(cat: AttentionMap) -> None:
    plain = picture(heatmap(cat))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "image.cmap": "jet", "svg.hashsalt": "mine"}):
        assert picture(heatmap(cat)) == plain
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"
