"""Files that the page saves: SVG with words and fonts, PNG, HTML, JSON, CSV; and the self-contained page by itself."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

import regard
from regard.plot import AttentionMap, alignment_html
from regard.plot.fonts import TYPEFACES

from .conftest import CAT, Studio

SVG = "{http://www.w3.org/2000/svg}"


def saved(studio: Studio, kind: str, folder: Path) -> Path:
    page = studio.page
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=kind, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def hindi(studio: Studio) -> Any:
    page = studio.open("translate", model="demo-en-hi", text="turn off the lights")
    page.locator("[role=gridcell]").first.wait_for()
    return page


def test_an_svg_opens_again_with_its_words_and_fonts(studio: Studio, browser: Any, tmp_path: Path) -> None:
    hindi(studio)
    path = saved(studio, "SVG", tmp_path)
    assert path.name == "turn-off-the-lights.svg"
    texts = [element.text for element in ElementTree.parse(path).iter(f"{SVG}text")]
    assert {"turn", "off", "the", "lights", "EOS", "लाइट", "बंद", "करो"} <= set(texts)
    assert texts[-1] == "demo-en-hi · free · words · scale 0–1", "the caption names model, mode and scale"
    assert "src:url(data:font/woff2;base64," in path.read_text(encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("text", has_text="लाइट").bounding_box()["width"] > 10
    page.close()


def test_a_picture_of_ribbons_and_of_pieces_shows_what_the_page_shows(studio: Studio, tmp_path: Path) -> None:
    studio.open("translate", model="demo-en-hi", text="turn off the lights", rendering="ribbons")
    studio.page.locator(".ribbons path").first.wait_for()
    drawn = ElementTree.parse(saved(studio, "SVG", tmp_path))
    assert len(list(drawn.iter(f"{SVG}path"))) == studio.page.locator(".ribbons path").count()
    texts = [element.text for element in drawn.iter(f"{SVG}text")]
    assert {"turn", "लाइट"} <= set(texts)
    assert texts[-1].endswith("% of the mass shown.")
    studio.open("translate", model="bpe", text=CAT, mode="forced", target="le chat", unit="piece")
    studio.page.locator("[role=gridcell]").first.wait_for()
    labels = list(ElementTree.parse(saved(studio, "SVG", tmp_path)).iter(f"{SVG}text"))
    whole = {"".join(label.itertext()) for label in labels if list(label.iter(f"{SVG}tspan"))}
    assert whole
    assert whole <= {*CAT.split(), "le", "chat"}, "a piece is underlined in its whole word"


def picture(studio: Studio, kind: str, folder: Path) -> Image.Image:
    return Image.open(io.BytesIO(saved(studio, kind, folder).read_bytes())).convert("RGB")


def one_glyph() -> bytes:
    """Our Devanagari with the same glyph for every letter."""
    with TTFont(TYPEFACES / "devanagari.ttf") as font:
        for table in font["cmap"].tables:
            table.cmap = dict.fromkeys(table.cmap, font.getBestCmap()[ord("ह")])
        del font["GSUB"]
        font.save(buffer := io.BytesIO())
    return buffer.getvalue()


def test_a_png_is_not_blank_and_in_the_font_of_the_page(studio: Studio, tmp_path: Path) -> None:
    page = hindi(studio)
    small, large = (picture(studio, kind, tmp_path) for kind in ("PNG 1×", "PNG 2×"))
    assert large.size == (2 * small.width, 2 * small.height)
    pixels = np.asarray(small).astype(int)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20
    page.route("**/fonts/devanagari.woff2", lambda route: route.fulfill(body=one_glyph(), content_type="font/woff2"))
    other = np.asarray(picture(studio, "PNG 1×", tmp_path)).astype(int)
    assert other.shape == pixels.shape
    changed = np.argwhere((other != pixels).any(axis=2))
    assert len(changed) > 50, "another font gives another picture: the PNG embeds the font of the page"
    assert changed[:, 1].max() < 90, "of the Hindi words alone"


def test_json_and_csv_hold_the_numbers(studio: Studio, tmp_path: Path) -> None:
    hindi(studio)
    best = studio.api("/translate", model="demo-en-hi", text="turn off the lights")["hypotheses"][0]
    found = json.loads(saved(studio, "JSON", tmp_path).read_text(encoding="utf-8"))
    assert found["word_attention"] == best["word_attention"]
    rows = list(csv.reader(io.StringIO(saved(studio, "CSV", tmp_path).read_text(encoding="utf-8-sig"))))
    assert rows[0] == ["", "turn", "off", "the", "lights", "EOS"]
    assert rows[1][0] == "लाइट"
    assert [float(value) for value in rows[1][1:5]] == best["word_attention"]["data"][0]


def walked(page: Any, troubles: list[str]) -> None:
    """The keyboard in a self-contained page."""
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: request.url.startswith("http") and troubles.append(request.url))


def test_the_html_export_works_without_the_server(studio: Studio, browser: Any, tmp_path: Path) -> None:
    hindi(studio)
    path = saved(studio, "HTML page", tmp_path)
    troubles: list[str] = []
    page = browser.new_page()
    walked(page, troubles)
    page.goto(path.as_uri())
    page.locator("[data-cell='0,3']").focus()
    assert page.get_by_role("status").text_content().startswith("लाइट attends 100 percent to lights")
    page.get_by_label("Ribbons").check()
    page.get_by_role("list", name="written").wait_for()
    assert troubles == []
    page.close()


def test_a_page_of_python_walks_speaks_and_changes_sentences(browser: Any, tmp_path: Path) -> None:
    weights = np.array([[0.9, 0.04, 0.06], [0.1, 0.15, 0.75], [0.02, 0.93, 0.05]])
    cat = AttentionMap(weights, "the black cat", ["le", "chat", "noir"], sure={(0, 0), (1, 2)}, possible={(2, 1)})
    second = AttentionMap(np.eye(2), ["<b>x</b>", "y"], ["लाइट", None], languages=("en", "hi"))
    path = tmp_path / "page.html"
    path.write_text(alignment_html([cat, second]), encoding="utf-8")
    troubles: list[str] = []
    page = browser.new_page()
    walked(page, troubles)
    page.goto(path.as_uri())
    page.locator("[role=gridcell][tabindex='0']").focus()
    status = page.get_by_role("status")
    assert status.text_content() == "le attends 90 percent to the; a gold link"
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert status.text_content() == "chat attends 75 percent to cat; a possible gold link"
    page.get_by_role("button", name="Next →").click()
    assert page.url.endswith("#sentence-2")
    assert page.locator("[role=gridcell]").count() == 4
    assert page.locator("[role=rowheader] bdi").get_attribute("lang") == "hi"
    assert page.locator("main b").count() == 0
    assert page.evaluate("document.fonts.check('15px regard', 'ल')")
    page.get_by_label("Ribbons").check()
    gaps = page.evaluate(
        """() => {
            const middle = (node) => { const box = node.getBoundingClientRect(); return box.top + box.height / 2; };
            const words = [...document.querySelectorAll('.ribbons .target')].map(middle);
            const top = document.querySelector('.ribbons svg').getBoundingClientRect().top;
            const ends = [...document.querySelectorAll('.ribbons svg path')]
                .map((path) => top + Number(path.getAttribute('d').split(/[ ,]/).at(-1)));
            return ends.map((end) => Math.min(...words.map((word) => Math.abs(word - end))));
        }"""
    )
    assert len(gaps) == 2
    assert max(gaps) < 1, "ribbons end at the middle of their words"
    assert troubles == []
    page.close()


def test_view_of_a_tensor_offers_layers_and_heads(browser: Any, tmp_path: Path) -> None:
    tensor = np.stack([np.stack([np.eye(2), np.full((2, 2), 0.5)])])
    path = tmp_path / "view.html"
    path.write_text(regard.view(tensor, "the cat", "le chat").html(), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("[data-cell='0,0']").get_attribute("data-value") == "0.75"
    page.get_by_label("Head").select_option(label="1")
    page.wait_for_function("() => document.querySelector('[data-cell=\"0,0\"]').dataset.value === '1'")
    page.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_follows_the_theme(browser: Any, tmp_path: Path, dark: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text(alignment_html([AttentionMap(np.eye(2), "a b", "x y")]), encoding="utf-8")
    page = browser.new_page(color_scheme="dark" if dark else "light")
    page.goto(path.as_uri())
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    channels = [int(one) for one in re.findall(r"\d+", ground)[:3]]
    assert (sum(channels) < 128 * 3) == dark
    page.close()


def test_forty_words_export_whole(studio: Studio, tmp_path: Path) -> None:
    page = studio.open("translate", model="luong", text=CAT, mode="forced", target=" ".join(["le chat"] * 25))
    page.get_by_test_id("mass").wait_for()
    rects = ElementTree.parse(saved(studio, "SVG", tmp_path)).iter(f"{SVG}rect")
    assert len(list(rects)) == 1 + 50 * 8, "the file has what the window left out"
