"""Who can use the page: axe in light and dark, narrow screens, forced colours; what it does when the server is gone."""

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import CAT, Studio

Open = Callable[..., Studio]
FORCED = {"mode": "forced", "target": "le chat noir"}
VIEWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "start": ("translate", {}, ".invitation"),
    "translate": ("translate", {"model": "demo-en-fr", "text": CAT, "drop": 1, "beam": 3, "nbest": 3}, ".result"),
    "ribbons": (
        "translate",
        {"model": "demo-en-hi", "text": "turn off the lights", "rendering": "ribbons"},
        ".ribbons",
    ),
    "table": ("translate", {"model": "demo-en-fr", "text": CAT, "rendering": "table"}, "table"),
    "walk": ("walk", {"model": "demo-en-fr", "text": CAT, "stage": "softmax"}, ".bars"),
    "compare": ("compare", {"models": "demo-en-fr,luong,vanilla", "text": CAT, **FORCED}, ".pairs"),
    "beam": ("beam", {"model": "demo-en-fr", "text": CAT, "beam": 3}, "[role=treeitem]"),
    "attention": ("attention", {}, "[role=gridcell]"),
}


def opened(studio: Studio, name: str) -> Any:
    view, query, awaited = VIEWS[name]
    page = studio.open(view, **query)
    page.locator(awaited).first.wait_for()
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_studio: Open, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    studio = open_studio(color_scheme=scheme)
    found = []
    for name in VIEWS:
        page = opened(studio, name)
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found += [f"{name}: {one['id']}: {node['html'][:150]}" for node in one["nodes"]]
    assert found == []


def test_360_pixels_need_no_sideways_scrolling(open_studio: Open) -> None:
    studio = open_studio(viewport={"width": 360, "height": 740})
    for name in VIEWS:
        page = opened(studio, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name


def test_the_theme_stands_beside_the_brand_at_every_width(studio: Studio) -> None:
    page = opened(studio, "start")
    for width in (360, 600, 900, 1060, 1100, 1160, 1161, 1300):
        page.set_viewport_size({"width": width, "height": 700})
        brand, theme = (page.locator(name).bounding_box() for name in (".brand", ".theme"))
        assert abs(brand["y"] - theme["y"]) < 12, width


def test_forced_colours_show_numbers_instead_of_colours(open_studio: Open) -> None:
    studio = open_studio(forced_colors="active")
    page = opened(studio, "translate")
    assert page.locator("[role=grid] canvas").evaluate("node => getComputedStyle(node).display") == "none"
    assert page.locator("[data-cell='0,0']").text_content().strip() == "92"
    page = opened(studio, "walk")
    bars = page.locator(".bar i").evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)")
    assert set(bars) == {page.evaluate("getComputedStyle(document.body).color")}, "bars are drawn in the text's colour"
    assert page.locator(".stages [aria-current]").evaluate("node => getComputedStyle(node).outlineStyle") == "solid"


def test_the_theme_can_be_chosen_and_is_kept(studio: Studio) -> None:
    page = opened(studio, "start")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.get_by_label("Theme").wait_for()
    assert page.evaluate(ground) == dark


def test_a_lost_server_is_reported_and_the_request_sent_again(studio: Studio) -> None:
    page = opened(studio, "translate")
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    page.get_by_label("Source (English)").fill("i love you")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("The server does not answer").wait_for()
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try now").click()
    studio.says("Translation: je t'aime")
    assert page.get_by_role("alert").count() == 0
    studio.troubles[:] = [one for one in studio.troubles if "ERR_CONNECTION_REFUSED" not in one]


def test_a_busy_server_is_tried_again(studio: Studio) -> None:
    page = opened(studio, "start")
    asked = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            return route.continue_()
        body = '{"error": {"code": "busy", "message": "full", "hint": null, "field": null}}'
        return route.fulfill(status=429, headers={"Retry-After": "1"}, content_type="application/json", body=body)

    page.route("**/api/v1/translate", answer)
    studio.open("translate", model="demo-en-fr", text="i love you")
    studio.says("Translation: je t'aime")
    assert len(asked) == 2
    studio.troubles[:] = [one for one in studio.troubles if "429" not in one]


def test_a_refusal_is_shown_with_its_remedy(studio: Studio) -> None:
    page = studio.open("translate", model="no-such-model", text=CAT)
    page.get_by_role("alert").wait_for()
    assert "no-such-model" in page.get_by_role("alert").text_content()
    page.goto(f"{studio.base}/#/nowhere")
    page.get_by_role("heading", name="There is no view").wait_for()
    studio.troubles[:] = [one for one in studio.troubles if "404" not in one]
