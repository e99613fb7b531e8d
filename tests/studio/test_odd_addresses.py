"""Odd addresses and texts: from other models, by hand, without spaces; and links for lessons."""

import math
from typing import Any

import pytest

from .arabic import ARABIC, ENGLISH
from .conftest import CAT, Studio

WIDTH = "document.documentElement.scrollWidth"


def forgive(studio: Studio, *statuses: int) -> None:
    """Chromium reports refused requests on the console."""
    studio.troubles[:] = [
        one for one in studio.troubles if not any(f"status of {status}" in one for status in statuses)
    ]


@pytest.mark.parametrize("view", ["translate", "walk", "beam"])
def test_options_that_a_model_refuses_can_be_removed(studio: Studio, view: str) -> None:
    page = studio.open(view, model="demo-en-fr", text=CAT, prefix_ids="99999", beam=3)
    alert = page.get_by_role("alert")
    alert.get_by_text("99999 at position 0 is not valid").wait_for()
    alert.get_by_role("button", name="Try without prefix ids, beam").click()
    alert.wait_for(state="detached")
    page.get_by_text("tapis").first.wait_for()
    assert "prefix_ids" not in page.url
    page.go_back()
    alert.wait_for()
    forgive(studio, 422)


def test_an_edit_of_another_sentence_is_refused_with_the_reason(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr", text=CAT, edit="1:0.5,0.5")
    alert = page.get_by_role("alert")
    alert.get_by_text("2 given, but the source has 8 pieces").wait_for()
    alert.get_by_role("button", name="Try without edit").click()
    studio.says("Translation: le chat noir")
    forgive(studio, 422)


@pytest.mark.parametrize("text", ["", CAT])
def test_compare_names_an_unknown_model_and_forgets_it_with_the_next_choice(studio: Studio, text: str) -> None:
    page = studio.open("compare", models="elsewhere,demo-en-fr,,demo-en-fr", text=text)
    page.get_by_text("No such model here: elsewhere.").wait_for()
    if text:
        page.get_by_role("region", name="demo-en-fr").wait_for()
    page.get_by_role("checkbox", name="luong").check()
    page.get_by_text("No such model here").wait_for(state="detached")
    if text:
        page.get_by_role("region", name="luong").wait_for()


def test_a_path_without_a_page_leads_a_browser_to_the_studio(studio: Studio) -> None:
    answer = studio.page.goto(f"{studio.base}/foo/<b>bar")
    assert answer.status == 404
    assert studio.page.locator("code").text_content() == "/foo/<b>bar"
    studio.page.get_by_role("link", name="Open the studio").click()
    studio.page.get_by_label("Model").wait_for()
    assert studio.client.get("/foo/bar").json()["error"]["code"] == "not_found"
    forgive(studio, 404)


def test_unknown_words_of_a_forced_target_are_reported(studio: Studio) -> None:
    query = {"text": CAT, "mode": "forced", "target": "le zzz"}
    page = studio.open("translate", model="demo-en-fr", **query)
    page.get_by_text("unknown to this model, in the target: 'zzz'").wait_for()
    page = studio.open("compare", models="demo-en-fr,luong", **query)
    page.get_by_role("region", name="luong").get_by_text("unknown to this model, in the target: 'zzz'").wait_for()
    assert page.get_by_role("button", name="demo-en-fr − luong").is_disabled()
    page.get_by_text("demo-en-fr does not know 'zzz'").wait_for()


def test_labels_of_a_long_sentence_can_be_read_at_360_pixels(open_studio: Any) -> None:
    studio = open_studio(viewport={"width": 360, "height": 740})
    page = studio.open("translate", model="demo-en-fr", text=f"{CAT} and {CAT}")
    page.locator("[role=gridcell]").first.wait_for()
    columns = page.locator("[role=columnheader].column")
    assert columns.count() > 15
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('[role=columnheader] .text')).fontSize)")
    between = columns.nth(1).bounding_box()["x"] - columns.nth(0).bounding_box()["x"]
    assert between * math.sin(math.radians(52)) >= size, "turned labels do not overlap"
    assert page.evaluate(WIDTH) <= 360
    page.locator("[data-cell='0,14']").focus()
    name, cell = (page.locator(one).first.bounding_box() for one in ("[role=rowheader]", "[data-cell='0,14']"))
    assert name["x"] >= 0, "the written words stay in view"
    assert name["x"] + name["width"] <= cell["x"] <= 360 - cell["width"]
    page.keyboard.press("Home")
    studio.page.wait_for_timeout(50)
    name, cell = (page.locator(one).first.bounding_box() for one in ("[role=rowheader]", "[data-cell='0,0']"))
    assert name["x"] + name["width"] <= cell["x"] + 1, "a focused cell is not behind the written words"


def test_a_word_without_spaces_does_not_widen_the_page(open_studio: Any) -> None:
    studio = open_studio(viewport={"width": 360, "height": 740})
    word = "x" * 1000
    views: list[tuple[str, dict[str, Any], str]] = [
        ("translate", {"drop": 0, "second": "y" * 1000}, "[data-testid=difference]"),
        ("walk", {"stage": "context"}, "[data-testid=parts]"),
        ("compare", {"models": "demo-en-fr,luong"}, "[role=gridcell]"),
        ("beam", {"beam": 2}, "[role=treeitem]"),
    ]
    for view, query, awaited in views:
        page = studio.open(view, model="demo-en-fr", text=word, **query)
        page.locator(awaited).first.wait_for()
        assert page.evaluate(WIDTH) <= 360, view


def test_dropping_a_word_shows_the_numbers_of_the_api(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr", text=CAT, drop=5)
    rows = page.locator("section", has=page.get_by_role("heading", name="Drop a word")).locator("tbody tr")
    rows.first.wait_for()
    text = studio.translation()
    found = studio.api("/occlusion", model="demo-en-fr", text=CAT, target=text)
    attention = studio.api("/translate", model="demo-en-fr", text=CAT)["hypotheses"][0]["word_attention"]["data"]
    assert rows.count() == len(found["rows"][5]["changes"]) == len(attention) + 1, "the target words and EOS"
    for i, change in enumerate(found["rows"][5]["changes"]):
        weight, shown = (rows.nth(i).locator("td").nth(j).text_content().strip() for j in (0, 1))
        assert weight == (f"{round(100 * attention[i][5])} %" if i < len(attention) else "–")
        assert float(shown.replace("−", "-")) == pytest.approx(change, abs=0.006)


def test_arrows_walk_where_they_point_in_right_to_left_text(studio: Studio) -> None:
    page = studio.open("walk", model="to-arabic", text=ENGLISH, mode="forced", target=ARABIC)
    page.get_by_test_id("place").get_by_text("Step 1 of 6").wait_for()
    steps = page.get_by_role("group", name="Steps").get_by_role("button")
    assert steps.nth(1).bounding_box()["x"] < steps.nth(0).bounding_box()["x"], "the second word stands on the left"
    page.keyboard.press("ArrowLeft")
    page.get_by_test_id("place").get_by_text("Step 2 of 6").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_test_id("place").get_by_text("Step 1 of 6").wait_for()
    page = studio.open("translate", model="arabic", text=ARABIC, mode="forced", target=ENGLISH)
    words = page.get_by_role("group", name="Source words to drop").get_by_role("button")
    words.first.wait_for()
    assert words.nth(1).bounding_box()["x"] < words.nth(0).bounding_box()["x"]


def test_lesson_links_lock_the_options_and_comparisons(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr", text=CAT, lock="text,options,mode", hide="nav,export,step")
    page.get_by_test_id("translation").wait_for()
    page.get_by_text("Options").click()
    assert page.get_by_label("Beam").is_disabled()
    assert page.get_by_label("Forced").is_disabled()
    assert not page.get_by_label("Source (English)").is_editable()
    assert page.get_by_role("navigation", name="Views").count() == 0
    assert page.get_by_role("button", name="Export").count() == 0
    page = studio.open("compare", models="demo-en-fr,luong", text=CAT, lock="model,text", hide="mode")
    page.get_by_role("region", name="luong").wait_for()
    assert page.get_by_role("checkbox", name="luong").is_disabled()
    assert not page.get_by_label("Source").is_editable()
    assert page.get_by_text("Mode", exact=True).count() == 0


def test_reduced_motion_stops_every_animation(open_studio: Any) -> None:
    """Also those of ::before, as the dot beside a run that trains."""
    durations = """() => {
        const dot = document.createElement('small');
        dot.style.transition = 'opacity 1s';
        document.body.append(dot);
        const rule = 'small::before { content: "·"; animation: pulse 1s infinite }';
        document.head.append(Object.assign(document.createElement('style'), { textContent: rule }));
        return [getComputedStyle(dot).transitionDuration, getComputedStyle(dot, '::before').animationName];
    }"""
    for motion, expected in (("no-preference", ["1s", "pulse"]), ("reduce", ["0s", "none"])):
        page = open_studio(reduced_motion=motion).open("translate")
        page.get_by_label("Model").wait_for()
        assert page.evaluate(durations) == expected
