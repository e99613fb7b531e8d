"""The studio without arguments: the models of the package, their names and their test sets."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .conftest import Studio, missing


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    if missing():
        pytest.skip("no browser")
    from regard.server.settings import Settings
    from server.conftest import running

    with running(Settings(studio=True, seconds=120.0)) as (client, _, _):
        yield client


def test_the_menu_says_what_a_model_reads_and_writes(studio: Studio) -> None:
    page = studio.open("translate")
    menu = page.get_by_label("Model").locator("option")
    menu.first.wait_for(state="attached")
    names = menu.all_text_contents()
    assert "g2p-en (English words → phones)" in names
    assert "demo-en-hi (English → Hindi)" in names
    assert not [name for name in names if "null" in name]


def test_quality_starts_with_a_model_whose_test_set_is_here(studio: Studio) -> None:
    page = studio.open("quality", model="en-fr")
    page.get_by_text("The test set of en-fr is not in the package: demo-en-fr is shown instead.").wait_for()
    page.locator("circle.pick").first.wait_for(timeout=60_000)
    assert page.locator(".warning").count() == 0


@pytest.mark.parametrize("model", ["g2p-en", "en-fr"])
def test_a_missing_test_set_is_reported_without_a_path_of_the_package(studio: Studio, model: str) -> None:
    answer = studio.client.get(f"/api/v1/quality/{model}")
    assert answer.status_code == 422
    message = answer.json()["error"]["message"]
    assert "is not on this machine: no file " in message
    assert "pretrained" not in message
    assert " /" not in message


@pytest.mark.parametrize("query", [{}, {"model": "demo-en-fr"}])
def test_compare_starts_with_models_of_one_vocabulary(studio: Studio, query: dict[str, str]) -> None:
    page = studio.open("compare", text="The black cat sat on the mat.", **query)
    page.get_by_role("heading", name="In numbers").wait_for()
    names = page.locator(".grid section h2").all_text_contents()
    assert names == ["demo-en-fr", "demo-en-fr-transformer", "demo-en-fr-vanilla"]


def test_a_table_that_is_wider_than_its_card_says_so(open_studio: Callable[..., Studio]) -> None:
    for width, hints in ((360, 1), (1200, 0)):
        studio = open_studio(viewport={"width": width, "height": 800})
        page = studio.open("compare", model="demo-en-fr", text="I love you.")
        page.get_by_role("heading", name="In numbers").wait_for()
        page.wait_for_timeout(100)
        assert page.get_by_text("More columns: scroll sideways").count() == hints


def test_examples_have_the_capitals_of_names(studio: Studio) -> None:
    page = studio.open("translate", model="demo-en-fr")
    page.get_by_role("button", name="Jane visits Africa in September.", exact=True).wait_for()
