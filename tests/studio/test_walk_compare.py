"""Walk, Compare and Your own against the numbers of the API, with a model of each kind."""

import numpy as np

from .conftest import CAT, Studio


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


def test_the_walk_without_attention_goes_from_the_state_to_the_words(studio: Studio) -> None:
    forced = {"text": CAT, "mode": "forced", "target": "le chat noir"}
    page = studio.open("walk", model="vanilla", stage="softmax", step=1, **forced)
    page.locator(".stage").get_by_text("one fixed vector, no alignment exists").wait_for()
    stages = page.get_by_role("list", name="Stages").get_by_role("button")
    assert stages.locator(".title").all_text_contents() == ["State", "Top words"]
    shown = "".join(page.locator("math").all_text_contents())
    assert "softmax" in shown
    assert not {"q", "e", "α", "h"} & set(page.locator("math mi").all_text_contents()), "symbols of attention"
    page.keyboard.press("ArrowDown")
    studio.says("Step 2 of 4, top words: chat has")
    top = studio.api("/step", model="vanilla", step=1, **forced)["top"]
    assert page.locator(".top li").count() == len(top)


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
