"""A newcomer's path in Chromium, with the mouse and with the keyboard alone; STUDIO_SHOTS=DIR keeps screenshots.

The server is `regard studio` without a bundle: the models of the package, and a right-to-left one in the runs folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from .arabic import ARABIC, ENGLISH, arabic_bundle
from .conftest import CAT, Studio, missing

SHOTS = os.environ.get("STUDIO_SHOTS")
CHAT = "le chat noir était assis sur le tapis"
VANILLA, TRANSFORMER = "demo-en-fr-vanilla", "demo-en-fr-transformer"
COMPARED = ("demo-en-fr", VANILLA, TRANSFORMER)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if missing():
        pytest.skip("no browser")
    from server.conftest import served

    folder = tmp_path_factory.mktemp("newcomer")
    arabic_bundle(folder / "runs" / "arabic" / "best")
    with served(folder / "log", "studio", "--no-browser", "--runs", str(folder / "runs"), seconds=600) as (_, client):
        yield client


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def test_a_newcomer_with_the_mouse(studio: Studio) -> None:
    page = studio.page
    page.goto(studio.base)
    shot(page, "1-start")
    page.get_by_label("Model").select_option("demo-en-fr")
    page.get_by_label("Source (English)").fill(CAT)
    page.get_by_role("button", name="Translate").click()
    studio.says("Translation: le chat noir était assis sur le tapis")
    assert len(studio.grid()) == 8
    page.locator("[data-cell='2,1']").hover()
    assert studio.spoken() == "noir attends 100 percent to black; a gold link"
    shot(page, "2-translate")

    page.get_by_role("group", name="Source words to drop").get_by_role("button", name="black").click()
    studio.says("Without black: le chat était assis sur le tapis")
    changes = page.locator("tr", has=page.locator("th", has_text="noir")).locator("td").nth(1).text_content()
    assert float(changes.strip().replace("−", "-")) < -3, "noir is not written without black"
    shot(page, "3-dropped")

    page.get_by_role("link", name="Walk").click()
    page.get_by_test_id("place").wait_for()
    for _ in range(2):
        page.get_by_role("button", name="Step →").click()
    page.get_by_test_id("place").get_by_text("Step 3 of 9").wait_for()
    page.get_by_role("button", name="4 Softmax").click()
    studio.says("noir attends 100 percent to black")
    assert "sum to 1.000" in page.get_by_test_id("sum").text_content()
    shot(page, "4-walk")

    page.get_by_role("link", name="Compare").click()
    page.get_by_role("checkbox", name="demo-en-fr", exact=True).and_(page.locator(":checked")).wait_for()
    assert page.get_by_role("checkbox", checked=True).count() == len(COMPARED), "these start, nothing is chosen"
    page.get_by_text("one fixed vector, no alignment exists", exact=True).wait_for()
    for model in COMPARED:
        page.get_by_role("region", name=model, exact=True).get_by_text(CHAT).wait_for()
    tops = {page.get_by_role("region", name=name, exact=True).bounding_box()["y"] for name in COMPARED}
    assert len(tops) == 1, "side by side"
    shot(page, "5-compare")
    page.get_by_text("Forced", exact=True).click()
    page.get_by_label("One reference for all models").fill(CHAT)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name=f"demo-en-fr − {TRANSFORMER}").and_(page.locator(":enabled")).click()
    page.get_by_role("grid", name="Difference").wait_for()
    assert page.get_by_role("button", name=f"demo-en-fr − {VANILLA}").is_disabled(), "it has no map"
    ask = {"models": ["demo-en-fr", TRANSFORMER], "text": CAT, "mode": "forced", "target": CHAT}
    first, second = (
        np.column_stack([one["word_attention"]["data"], one["word_attention"]["elsewhere"]])
        for result in studio.api("/compare", **ask)["results"]
        for one in result["translation"]["hypotheses"][:1]
    )
    np.testing.assert_allclose(studio.grid("Difference"), first - second, atol=1e-5)
    shot(page, "5-difference")
    page.get_by_text("Free", exact=True).click()

    page.get_by_role("link", name="Beam").click()
    tree = page.get_by_role("tree")
    tree.wait_for()
    tree.locator(".node", has_text="ton").first.click()
    page.wait_for_url("**prefix_ids=**")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=translation]').textContent.trim().startsWith('ton chat')"
    )
    page.get_by_text("The first piece is forced.").wait_for()
    page.wait_for_function("() => document.activeElement.ariaLabel?.startsWith('ton: kept, rank 1')")
    assert page.locator(".scroll").evaluate("node => node.scrollTop") < 20, "its beginning is in view"
    shot(page, "6-beam")

    page.get_by_role("link", name="Translate").click()
    page.get_by_role("button", name="Translate freely").click()
    studio.says("Translation: le chat noir")
    page.get_by_role("group", name="Written pieces").get_by_role("button", name="chat").click()
    page.get_by_text("Edit this row of attention").click()
    page.get_by_role("button", name="All weight on mat").click()
    page.get_by_role("button", name="Decode on with this row").click()
    page.get_by_text("Row 2 is edited").wait_for()
    page.wait_for_function("() => document.querySelector('[data-cell=\"1,6\"]')?.dataset.value === '1'")
    shot(page, "7-edited")
    edited, address = studio.translation(), page.url
    svg = ElementTree.parse(export(page, "SVG")).getroot()
    texts = [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert set(CAT.split()) <= set(texts)
    with Image.open(export(page, "PNG 2×")) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 20, "not blank"
    page.goto("about:blank")
    page.goto(address)
    page.get_by_text("Row 2 is edited").wait_for()
    assert studio.translation() == edited


def export(page: Any, kind: str) -> Path:
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=kind).click()
    return Path(waiting.value.path())


def follow(studio: Studio, title: str) -> None:
    """Tab to a link of the navigation and press Enter."""
    while studio.page.evaluate("document.activeElement.textContent.trim()") != title:
        studio.tab_to("header nav a", 200)
    studio.page.keyboard.press("Enter")


def test_a_newcomer_with_the_keyboard_alone(studio: Studio) -> None:
    page = studio.page
    keys = page.keyboard
    page.goto(studio.base)
    page.get_by_label("Model").wait_for()
    studio.tab_to("select[disabled=false], form select")
    keys.type("demo-en-fr")
    studio.tab_to("textarea")
    keys.type(CAT)
    keys.press("Enter")
    studio.says("Translation: le chat noir était assis sur le tapis")

    studio.tab_to("[role=gridcell]")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        keys.press(key)
    assert studio.spoken() == "chat attends 98 percent to cat; a gold link"
    keys.press("Enter")

    studio.tab_to("summary")
    assert studio.focused() == "Edit this row of attention"
    keys.press("Enter")
    studio.tab_to("[aria-label='All weight on mat']")
    keys.press("Enter")
    studio.tab_to("button.primary")
    keys.press("Enter")
    page.get_by_text("Row 2 is edited").wait_for()
    page.wait_for_function("() => document.querySelector('[data-cell=\"1,6\"]')?.dataset.value === '1'")

    studio.tab_to("[aria-label='Source words to drop'] button")
    studio.tab_to("[aria-label='Source words to drop'] button")
    assert studio.focused() == "black"
    keys.press("Space")
    studio.says("Without black: le chat était assis sur le tapis")

    page.reload()
    page.get_by_test_id("without").wait_for()
    for kind, ending in (("SVG", ".svg"), ("PNG 1×", ".png")):
        studio.tab_to("[aria-haspopup=menu]")
        keys.press("ArrowDown")
        while studio.focused() != kind:
            keys.press("ArrowDown")
        with page.expect_download() as waiting:
            keys.press("Enter")
        assert waiting.value.suggested_filename.endswith(ending)

    follow(studio, "Compare")
    page.get_by_role("checkbox", name=VANILLA).wait_for()
    for name in COMPARED:
        page.get_by_role("region", name=name, exact=True).wait_for()
    for name in (TRANSFORMER, VANILLA):
        while studio.page.evaluate("document.activeElement.parentElement.textContent.trim()") != name:
            studio.tab_to("[type=checkbox]")
        keys.press("Space")
        page.get_by_role("region", name=name, exact=True).wait_for(state="detached")

    follow(studio, "Walk")
    page.get_by_test_id("place").wait_for()
    studio.tab_to(".target button")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        keys.press(key)
    studio.says("Step 3 of 9, softmax: noir attends 100 percent to black")
    keys.press("ArrowUp")
    studio.says("Step 3 of 9, mask")
    keys.press("ArrowLeft")
    page.get_by_test_id("place").get_by_text("Step 2 of 9").wait_for()

    follow(studio, "Beam")
    page.get_by_role("tree").wait_for()
    studio.tab_to("[role=treeitem]")
    keys.press("ArrowRight")
    assert studio.focused().startswith("le: kept, rank 1")
    for _ in range(3):
        keys.press("ArrowRight")
    keys.press("Home")
    while not studio.focused().startswith("ton:"):
        keys.press("ArrowDown")
    assert "rank 2" in page.get_by_test_id("node").text_content()
    keys.press("Enter")
    page.wait_for_url("**prefix_ids=**")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=translation]').textContent.trim().startsWith('ton chat')"
    )
    page.wait_for_function("() => document.activeElement.ariaLabel?.startsWith('ton: kept, rank 1')")


def test_a_newcomer_reads_hindi_and_a_right_to_left_sentence(studio: Studio) -> None:
    page = studio.page
    page.goto(studio.base)
    page.get_by_label("Model").select_option("demo-en-hi")
    page.get_by_label("Source (English)").fill("turn off the lights")
    page.keyboard.press("Enter")
    studio.says("Translation: लाइट बंद करो")
    page.locator("[data-cell='0,3']").hover()
    assert studio.spoken().startswith("लाइट attends 100 percent to lights")
    shot(page, "8-hindi")
    studio.open("translate", model="arabic", text=ARABIC, mode="forced", target=ENGLISH)
    heads = page.locator("[role=columnheader] bdi")
    heads.nth(4).wait_for()
    assert heads.all_text_contents() == ARABIC.split()
    places = [heads.nth(column).bounding_box()["x"] for column in range(5)]
    assert places == sorted(places, reverse=True), "the first word is on the right"
    shot(page, "9-right-to-left")


def test_a_map_of_words_says_where_the_heads_are(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr", text=CAT)
    page.locator("[role=gridcell]").first.wait_for()
    assert page.get_by_text("Pieces shows each").count() == 0
    studio.open("translate", model=TRANSFORMER, text=CAT)
    page.get_by_text("Pieces shows each layer and head.").wait_for()
    page.get_by_label("Pieces", exact=True).check()
    page.get_by_label("Head").wait_for()
