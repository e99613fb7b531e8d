"""The Translate view in Chromium: numbers equal the API's, keyboard and speech, scripts, permalinks, editing."""

from typing import Any

import numpy as np
import pytest

from .arabic import ARABIC, ENGLISH
from .conftest import CAT, Studio


def translated(studio: Studio, **query: Any) -> Any:
    page = studio.open("translate", **query)
    page.get_by_test_id("translation").wait_for()
    return page


@pytest.mark.parametrize("model", ["demo-en-fr", "bpe", "transformer"])
def test_rows_sum_to_1_and_equal_the_api(studio: Studio, model: str) -> None:
    forced = {"mode": "forced", "target": "le chat noir était assis sur le tapis"}
    page = translated(studio, model=model, text=CAT, **forced)
    page.locator("[role=gridcell]").first.wait_for()
    best = studio.api("/translate", model=model, text=CAT, **forced)["hypotheses"][0]
    words = best["word_attention"]
    shown = np.array(studio.grid())
    np.testing.assert_array_equal(shown, np.column_stack([words["data"], words["elsewhere"]]))
    np.testing.assert_allclose(shown.sum(1), 1, atol=1e-5)
    page.get_by_role("radio", name="Pieces").check()
    page.wait_for_function("n => document.querySelectorAll('[role=rowheader]').length === n", arg=len(best["steps"]))
    shown = np.array(studio.grid())
    np.testing.assert_allclose(shown, np.mean(best["attention"]["data"], axis=(0, 1)), atol=1e-7)
    np.testing.assert_allclose(shown.sum(1), 1, atol=1e-5)
    if model == "transformer":
        page.get_by_label("Layer").select_option(label="2")
        page.get_by_label("Head").select_option(label="1")
        page.wait_for_url("**head=0**")
        np.testing.assert_array_equal(studio.grid(), best["attention"]["data"][1][0])


def test_rows_of_local_p_sum_to_less_and_the_page_says_so(studio: Studio) -> None:
    page = translated(studio, model="local-p", text=CAT, mode="forced", target="le chat noir")
    page.get_by_test_id("missing").wait_for()
    assert "Rows sum to less than 1" in page.get_by_test_id("missing").text_content()
    best = studio.api("/translate", model="local-p", text=CAT, mode="forced", target="le chat noir")["hypotheses"][0]
    missing = best["word_attention"]["missing"]
    np.testing.assert_allclose(np.array(studio.grid()).sum(1), 1 - np.array(missing), atol=1e-5)
    assert max(missing) > 0.05


def test_the_keyboard_walks_the_map_and_the_page_speaks(studio: Studio) -> None:
    page = translated(studio, model="demo-en-fr", text=CAT)
    studio.tab_to("[role=gridcell]")
    assert studio.spoken().startswith("le attends 92 percent to the")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert studio.spoken() == studio.focused() == "noir attends 100 percent to black; a gold link"
    assert page.locator(".on").all_text_contents() == ["black", "noir"], "both words are lit"
    page.keyboard.press("Enter")
    assert studio.spoken().endswith("(pinned)")
    assert page.locator("[aria-selected=true]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("[role=grid] [aria-selected=true], .on").count() == 0
    page.keyboard.press("End")
    assert studio.focused() == "noir attends 0 percent to EOS"
    page.keyboard.press("Home")
    assert studio.focused() == "noir attends 0 percent to the"
    page.keyboard.press("Control+End")
    assert studio.focused() == "tapis attends 0 percent to EOS"
    page.keyboard.press("ArrowRight")
    assert studio.focused() == "tapis attends 0 percent to EOS", "the map ends there"
    assert page.locator("[role=gridcell][tabindex='0']").count() == 1, "one tab stop"


def test_hindi(studio: Studio) -> None:
    page = translated(studio, model="demo-en-hi", text="turn off the lights")
    assert studio.translation() == "लाइट बंद करो"
    assert page.get_by_test_id("translation").get_attribute("lang") == "hi"
    page.locator("[data-cell='0,3']").hover()
    assert studio.spoken().startswith("लाइट attends 100 percent to lights")
    assert page.locator("[role=rowheader] bdi").first.get_attribute("lang") == "hi"
    assert page.evaluate("document.fonts.check('15px regard', 'ल')"), "the page's own font is used"


def test_right_to_left(studio: Studio) -> None:
    page = translated(studio, model="arabic", text=ARABIC, mode="forced", target=ENGLISH)
    page.locator("[role=gridcell]").first.wait_for()
    heads = page.locator("[role=columnheader] bdi")
    assert heads.all_text_contents() == ARABIC.split()
    assert {heads.nth(place).get_attribute("dir") for place in range(5)} == {"rtl"}
    places = [page.locator(f"[data-cell='0,{column}']").bounding_box()["x"] for column in range(6)]
    assert places == sorted(places, reverse=True), "the first word is on the right"
    studio.tab_to("[role=gridcell]")
    before = page.evaluate("document.activeElement.getBoundingClientRect().x")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.getBoundingClientRect().x") < before, "ArrowLeft is visually left"
    assert page.evaluate("document.activeElement.dataset.cell") == "0,1"
    assert "</s>" not in page.content()
    assert page.locator("[role=columnheader] .chip").text_content() == "EOS"


def test_a_permalink_restores_request_and_drawing(studio: Studio) -> None:
    page = translated(studio, model="demo-en-fr", text=CAT, beam=3, nbest=2, scale="root", unit="piece", drop=1)
    page.get_by_test_id("without").wait_for()
    address, grid, dropped = page.url, studio.grid(), page.get_by_test_id("without").text_content()
    page.goto("about:blank")
    page.goto(address)
    page.get_by_test_id("without").wait_for()
    assert (studio.grid(), page.get_by_test_id("without").text_content()) == (grid, dropped)
    assert page.get_by_label("√").is_checked()
    assert page.get_by_label("Source (English)").input_value() == CAT
    assert page.locator(".nbest button").count() == 2


def test_text_of_other_people_stays_text(studio: Studio) -> None:
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    page = translated(studio, model="demo-en-fr", text=evil, mode="forced", target=evil)
    page.on("dialog", lambda dialog: studio.troubles.append("a script ran"))
    page.locator("[role=gridcell]").first.wait_for()
    assert page.locator("main img, main script").count() == 0
    for rendering in ("Ribbons", "Table"):
        page.get_by_label(rendering, exact=True).check()
        page.get_by_text("onerror", exact=False).first.wait_for()
    studio.open("compare", text=evil, models="demo-en-fr", mode="forced", target=evil)
    page.locator("[role=gridcell]").first.wait_for()
    assert page.locator("main img, main script").count() == 0


def test_a_forced_word_a_prefix_and_an_edited_row(studio: Studio) -> None:
    page = translated(studio, model="demo-en-fr", text=CAT)
    page.get_by_text("Options").click()
    page.get_by_label("The translation must begin with").fill("ton chat")
    page.keyboard.press("Enter")
    studio.says("Translation: ton chat")
    translated(studio, model="demo-en-fr", text=CAT)
    studio.says("Translation: le chat")
    page.get_by_role("group", name="Written pieces").get_by_role("button", name="chat").click()
    page.get_by_text("Edit this row of attention").click()
    page.get_by_role("button", name="All weight on mat").click()
    page.get_by_role("button", name="Decode on with this row").click()
    page.get_by_text("Row 2 is edited").wait_for()
    page.locator(".output").get_by_text("row 2 edited").wait_for()
    edit = {"step": 1, "weights": [0, 0, 0, 0, 0, 0, 1, 0]}
    expected = studio.api("/translate", model="demo-en-fr", text=CAT, beam=1, attention_edit=edit)["hypotheses"][0]
    page.wait_for_function("text => document.querySelector('[data-testid=translation]').textContent.trim() === text",
                           arg=expected["target"]["text"])  # fmt: skip
    assert studio.grid()[1][6] == 1
    page.get_by_role("button", name="Undo").click()
    studio.says("Translation: le chat noir")


def test_sampling_shows_what_the_api_samples(studio: Studio) -> None:
    sampling = {"temperature": 1.5, "top_k": 20, "seed": 3, "nbest": 3}
    page = translated(studio, model="demo-en-fr", text=CAT, **sampling)
    drawn = studio.api("/translate", model="demo-en-fr", text=CAT, **sampling)["hypotheses"]
    assert page.locator(".nbest bdi").all_text_contents() == [one["target"]["text"] for one in drawn]
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_url("**seed=4**")


def test_a_second_source_shows_what_changed(studio: Studio) -> None:
    page = translated(studio, model="demo-en-fr", text=CAT)
    page.get_by_role("textbox", name="Second source").fill("the black cats sat on the mat")
    page.get_by_role("button", name="Show the difference").click()
    page.get_by_test_id("difference").wait_for()
    assert page.locator("del").all_text_contents() == ["le", "chat", "noir", "était"]
    assert page.locator("ins").all_text_contents() == ["les", "chats", "noirs", "étaient"]
    change = np.array(studio.grid("Difference"))
    assert change.shape == (8, 8)
    np.testing.assert_allclose(change.sum(1), 0, atol=1e-5)


def test_a_long_sentence_has_an_overview_and_a_window(studio: Studio) -> None:
    page = translated(studio, model="luong", text=CAT, mode="forced", target=" ".join(["le chat noir était"] * 12))
    page.get_by_test_id("mass").wait_for()
    assert (len(studio.grid()), len(studio.grid()[0])) == (30, 8), "48 words are more than a whole map shows"
    assert "Rows 1–30 of 48" in page.get_by_test_id("mass").text_content()
    assert "62 % of the mass shown" in page.get_by_test_id("mass").text_content()
    studio.tab_to("[role=gridcell]")
    page.keyboard.press("Control+End")
    assert page.evaluate("document.activeElement.dataset.cell") == "47,7", "the window follows"
    assert "Rows 19–48 of 48" in page.get_by_test_id("mass").text_content()


def test_a_changed_option_keeps_the_unsent_text_and_the_open_panel(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr")
    page.get_by_label("Source (English)").fill("i love you")
    page.get_by_text("Options").click()
    page.get_by_label("Beam").fill("3")
    page.wait_for_url("**beam=3**")
    assert page.get_by_label("Source (English)").input_value() == "i love you"
    assert page.get_by_label("Beam").is_visible()


def test_a_lesson_link_hides_and_locks_controls(studio: Studio) -> None:
    page = translated(studio, model="demo-en-fr", text=CAT, hide="scale,occlusion,second,nav", lock="model,rendering")
    assert page.get_by_text("Colour scale").count() == 0
    assert page.get_by_role("heading", name="Drop a word").count() == 0
    assert page.get_by_label("Model").is_disabled()
    assert page.get_by_label("Ribbons").is_disabled()
