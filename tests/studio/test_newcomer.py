"""A newcomer's path in Chromium, with the mouse and with the keyboard alone; STUDIO_SHOTS=DIR keeps screenshots."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from .conftest import CAT, Studio

SHOTS = os.environ.get("STUDIO_SHOTS")
MODELS = "demo-en-fr,vanilla,transformer"


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def test_a_newcomer_with_the_mouse(studio: Studio) -> None:
    page = studio.page
    page.goto(studio.base)
    page.get_by_label("Model").select_option("demo-en-fr")
    shot(page, "1-start")
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
    for model in ("vanilla", "transformer"):
        page.get_by_role("checkbox", name=model, exact=True).check()
    page.get_by_role("checkbox", name="demo-en-hi").uncheck()
    page.get_by_text("one fixed vector, no alignment exists", exact=True).wait_for()
    page.get_by_role("region", name="demo-en-fr").get_by_text("le chat noir").wait_for()
    shot(page, "5-compare")

    page.get_by_role("link", name="Beam").click()
    tree = page.get_by_role("tree")
    tree.wait_for()
    tree.locator(".node", has_text="ton").first.click()
    page.wait_for_url("**prefix_ids=**")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=translation]').textContent.trim().startsWith('ton chat')"
    )
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
    for kind in ("SVG", "PNG 2×"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as waiting:
            page.get_by_role("menuitem", name=kind).click()
        assert Path(waiting.value.path()).stat().st_size > 2000
    page.goto("about:blank")
    page.goto(address)
    page.get_by_text("Row 2 is edited").wait_for()
    assert studio.translation() == edited


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
    studio.tab_to("[aria-haspopup=menu]")
    keys.press("ArrowDown")
    page.get_by_role("menuitem", name="SVG").and_(page.locator(":focus")).wait_for()
    with page.expect_download() as waiting:
        keys.press("Enter")
    assert waiting.value.suggested_filename.endswith(".svg")

    follow(studio, "Compare")
    page.get_by_role("checkbox", name="vanilla", exact=True).wait_for()
    for name in ("vanilla", "transformer"):
        while studio.page.evaluate("document.activeElement.parentElement.textContent.trim()") != name:
            studio.tab_to("[type=checkbox]")
        keys.press("Space")
        page.get_by_role("region", name=name, exact=True).wait_for()

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


def test_the_walk_shows_the_numbers_of_the_step(studio: Studio) -> None:
    page = studio.open("walk", model="demo-en-fr", text=CAT, step=1, stage="softmax")
    page.get_by_test_id("sum").wait_for()
    weights = studio.api("/step", model="demo-en-fr", text=CAT, step=1)["layers"][0]["weights"][0]
    shown = page.locator(".labels b").all_text_contents()
    assert [int(one) for one in shown] == [round(100 * weight) for weight in weights]
    page.get_by_role("button", name="1 Query").click()
    page.get_by_text("The state of the step before is the query").wait_for()
    page.get_by_role("button", name="Play").click()
    studio.says("scores")


def test_a_shorter_sentence_walks_from_its_start(studio: Studio) -> None:
    page = studio.open("walk", model="demo-en-fr", text=CAT, step=7)
    page.get_by_test_id("place").get_by_text("Step 8 of 9").wait_for()
    page.get_by_label("Source (English)").fill("i love you")
    page.keyboard.press("Enter")
    page.get_by_test_id("place").get_by_text("Step 1 of 4").wait_for()
    studio.open("walk", model="demo-en-fr", text="i love you", step=7)
    page.get_by_test_id("place").get_by_text("Step 1 of 4").wait_for()
    assert page.get_by_role("alert").count() == 0
    studio.troubles[:] = [one for one in studio.troubles if "422" not in one]


def test_the_walk_of_local_attention_shows_its_window_and_of_a_transformer_its_heads(studio: Studio) -> None:
    forced = {"text": CAT, "mode": "forced", "target": "le chat noir"}
    page = studio.open("walk", model="local-p", step=1, stage="softmax", **forced)
    page.get_by_test_id("window").wait_for()
    window = studio.api("/step", model="local-p", step=1, **forced)["layers"][0]["window"]
    assert f"centre p = {window['center']:.2f}" in page.get_by_test_id("window").text_content()
    assert page.locator(".bars path").count() == 1, "the Gaussian"
    studio.open("walk", model="transformer", step=1, stage="softmax", layer=0, head=1, **forced)
    page.get_by_label("Head").wait_for()
    assert page.get_by_label("Head").input_value() == "1"
    weights = studio.api("/step", model="transformer", step=1, **forced)["layers"][0]["weights"][1]
    page.wait_for_function(
        "text => document.querySelector('.labels b').textContent === text", arg=str(round(100 * weights[0]))
    )
    studio.open("walk", model="vanilla", stage="softmax", **forced)
    page.locator(".stage").get_by_text("one fixed vector, no alignment exists").wait_for()


def test_models_are_compared_and_refused_with_the_reason(studio: Studio) -> None:
    page = studio.open("compare", models="demo-en-fr,luong,vanilla", text=CAT)
    page.get_by_role("heading", name="Difference of two maps").wait_for()
    free = page.get_by_role("button", name="demo-en-fr − luong")
    assert free.is_disabled()
    reason = page.locator(f"#{free.get_attribute('aria-describedby')}")
    assert "free mode" in reason.text_content()
    page.get_by_text("vanilla has no attention: one fixed vector, no alignment exists").first.wait_for()
    forced = {"mode": "forced", "target": "le chat noir"}
    studio.open("compare", models="demo-en-fr,luong,vanilla", text=CAT, **forced)
    page.get_by_role("button", name="demo-en-fr − luong").and_(page.locator(":enabled")).click()
    page.get_by_role("grid", name="Difference").wait_for()
    assert page.get_by_role("button", name="demo-en-fr − vanilla").is_disabled()
    ask = {"models": ["demo-en-fr", "luong"], "text": CAT, **forced}
    first, second = (
        np.column_stack([one["word_attention"]["data"], one["word_attention"]["elsewhere"]])
        for result in studio.api("/compare", **ask)["results"]
        for one in result["translation"]["hypotheses"][:1]
    )
    np.testing.assert_allclose(studio.grid("Difference"), first - second, atol=1e-7)


def test_cursors_of_compared_maps_are_linked(studio: Studio) -> None:
    page = studio.open("compare", models="demo-en-fr,luong", text=CAT, mode="forced", target="le chat noir")
    page.get_by_role("grid", name="luong").locator("[data-cell='2,1']").hover()
    assert page.locator("[role=grid] .on").all_text_contents() == ["black", "noir", "black", "noir"]


def test_an_attention_file_opens_in_the_same_view(studio: Studio) -> None:
    page = studio.page
    page.goto(studio.base)
    page.get_by_role("link", name="Your own").click()
    page.locator("[role=gridcell]").first.wait_for()
    page.get_by_label("Head").select_option(label="1")
    page.wait_for_url("**head=0**")
    np.testing.assert_allclose(studio.grid(), [[0.9, 0.1], [0.2, 0.8]], atol=1e-7)
