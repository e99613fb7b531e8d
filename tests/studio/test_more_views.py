"""Quality, Triage, Neighbours, Train and Learn in the browser, against `regard studio` as a program."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from regard.course.answer_map import AnswerMap
from regard.course.catalogue import entries
from regard.course.course_folder import open_folder
from regard.course.last_report import keep_report
from regard.course.verdict import Verdict
from server.conftest import served

from .conftest import CAT, Studio, missing

Open = Callable[..., Studio]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The current folder of the server."""
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    """A process of its own, where no test checks types: it decodes whole test sets. One short run is there."""
    if missing():
        pytest.skip("no browser")
    arguments = ("studio", "demo-en-fr", "demo-fr-en", "--no-browser", "--runs", str(folder / "runs"))
    with chdir(folder), served(folder / "log", *arguments, seconds=600) as (_, client):
        assert client.post("/api/v1/runs", json={"pair": "en-fr", "steps": 3}).status_code == 201
        yield client


@pytest.fixture
def course(server: Any, folder: Path) -> Path:
    """The course folder of the server, with a report about exercise 3."""
    folder = folder / "regard-course"
    open_folder(folder)
    answer = AnswerMap("weights", ((0.5, 0.5),), ((1.0, 0.0),))
    printed = "<img src=x onerror=alert(1)>"
    keep_report(folder, entries()[2], Verdict("failed", printed, ("yours 0.5", "wanted 1"), answer=answer))
    return folder


def _run(studio: Studio, name: str) -> Any:
    return next(one for one in studio.client.get("/api/v1/runs").json()["runs"] if one["id"] == name)


def _trained(studio: Studio) -> None:
    for _ in range(600):
        run = _run(studio, "studio-en-fr-1")
        if run["state"] == "finished":
            return
        sleep(0.1)
    raise AssertionError(run)


def test_quality_opens_a_bin_and_a_sentence(studio: Studio) -> None:
    page = studio.open("quality", model="demo-en-fr", metric="exact_match")
    page.locator("circle.pick").first.wait_for(timeout=60_000)
    found = studio.client.get("/api/v1/quality/demo-en-fr", params={"metric": "exact_match"}).json()
    assert page.locator("dl dd").first.text_content() == f"{100 * found['score']:.1f}%"
    page.get_by_text("The numbers as a table").click()
    rows = page.locator("figure tbody tr")
    assert rows.count() == len(found["bins"])
    first = found["bins"][0]
    assert f"{100 * first['score']:.1f} ({100 * first['low']:.1f} to" in rows.first.text_content()
    assert f"(n {first['sentences']})" in rows.first.text_content()
    page.locator("circle.pick").last.focus()
    page.keyboard.press("Enter")
    last = found["bins"][-1]
    worst = min(last["examples"], key=lambda one: one["chrf"])
    item = page.locator("section ol li").first
    assert worst["source"] in item.text_content()
    assert page.locator("section ol li").count() == min(20, last["sentences"])
    item.get_by_role("link").click()
    page.wait_for_url("**/#/translate**")
    page.get_by_test_id("translation").wait_for()
    assert studio.translation() == worst["text"]


def test_quality_lays_models_side_by_side(studio: Studio) -> None:
    _trained(studio)
    page = studio.open("quality", models="demo-en-fr,demo-fr-en")
    page.locator("dl dt").nth(1).wait_for(timeout=60_000)
    names = {one["id"] for one in studio.client.get("/api/v1/models").json()["models"]}
    assert names == set(page.locator(".pill").all_text_contents())
    page.get_by_role("checkbox", name="demo-fr-en").uncheck()
    page.locator("dl dt").nth(1).wait_for(state="detached")


def test_triage_lists_the_doubtful_first(studio: Studio) -> None:
    page = studio.open("triage", model="demo-en-fr")
    page.get_by_label("One sentence a line").fill(
        f"{CAT}\n\nzebras dance a quantum tango\n<img src=x onerror=alert(1)>"
    )
    page.get_by_role("button", name="Sort").click()
    page.locator("tbody tr").first.wait_for()
    texts = page.locator("tbody tr").all_text_contents()
    assert len(texts) == 3
    assert CAT in texts[-1]
    assert page.locator("img").count() == 0
    page.get_by_role("button", name="log p").click()
    page.locator("th[aria-sort]", has_text="log p").wait_for()
    shown = [float(one.replace("−", "-")) for one in page.locator("tbody td:nth-of-type(2)").all_text_contents()]
    assert shown == sorted(shown)
    assert studio.spoken() == "Sorted by mean log-probability of a piece, the most doubtful first"
    page.get_by_role("link", name=CAT).click()
    page.get_by_test_id("translation").wait_for()
    assert studio.translation() == "le chat noir était assis sur le tapis"


def test_triage_judges_given_translations(studio: Studio) -> None:
    page = studio.open("triage", model="demo-en-fr")
    page.get_by_label("One sentence a line").fill("i love you\nthe cat sleeps")
    page.get_by_text("Translations of your own").click()
    own = page.get_by_label("One a line: they are judged")
    own.fill("je t'aime")
    assert page.get_by_role("button", name="Sort").is_disabled()
    page.get_by_text("give one for each line").wait_for()
    own.fill("je t'aime\nle chien chien")
    page.get_by_role("button", name="Sort").click()
    page.locator("tbody tr").first.wait_for()
    assert "le chien chien" in page.locator("tbody tr").first.text_content()
    page.get_by_role("link", name="the cat sleeps").click()
    page.wait_for_url("**mode=forced**")


def test_neighbours_share_the_word_that_is_chosen(studio: Studio) -> None:
    page = studio.open("neighbours", model="demo-en-fr", text=CAT)
    page.get_by_role("radio", name="chat").check()
    page.get_by_role("heading", name="wrote “chat”").wait_for(timeout=60_000)
    marks = page.locator("ol mark").all_text_contents()
    assert marks.count("chat") >= 10
    page.get_by_role("radio", name="noir").check()
    page.get_by_role("heading", name="wrote “noir”").wait_for()
    assert page.locator("ol mark").first.text_content() in ("noir", "noire", "noirs", "noires")
    page.get_by_role("radio", name="EOS").check()
    page.get_by_role("heading", name="wrote “EOS”").wait_for()


def test_a_run_is_drawn_and_replayed(studio: Studio) -> None:
    _trained(studio)
    page = studio.open("train", run="studio-en-fr-1")
    page.get_by_text("step 3 of 3").wait_for()
    stream = studio.client.get("/api/v1/runs/studio-en-fr-1/events").text
    data = re.findall(r"^event: validated\ndata: (.*)$", stream, re.MULTILINE)[-1]
    source, reference, output = json.loads(data)["sample"]
    assert reference != output, "three steps are too few to learn it"
    shown = " ".join(page.locator(".sample").text_content().split())
    assert f"{source} → {output or '∅'} (reference: {reference})" in shown
    page.locator("figure svg").nth(3).wait_for()
    slider = page.get_by_role("slider")
    slider.wait_for()
    replay = studio.client.get("/api/v1/runs/studio-en-fr-1/replay").json()

    def rows(snapshot: int) -> list[list[float]]:
        one = replay["snapshots"][snapshot]["sentences"][0]
        return [[*row, rest] for row, rest in zip(one["data"], one["elsewhere"], strict=True)]

    assert studio.grid("Attention at step 3") == rows(-1)
    page.get_by_text("Step 3 · exact match").wait_for()
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_role("grid", name="Attention at step 1").wait_for()
    assert studio.grid("Attention at step 1") == rows(0)
    page.get_by_role("link", name="Translate with it").click()
    page.wait_for_url("**model=studio-en-fr-1**")


def test_a_run_that_does_not_exist_is_named(studio: Studio) -> None:
    page = studio.open("train", run="deleted")
    page.get_by_text("There is no run “deleted” in this folder.").wait_for()
    page = studio.open("quality", models="elsewhere")
    page.get_by_text("No such model here: elsewhere.").wait_for()
    studio.troubles[:] = [one for one in studio.troubles if "status of 404" not in one]


def test_a_newcomer_trains_and_stops(studio: Studio) -> None:
    _trained(studio)
    page = studio.open("train")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Training…").wait_for()
    assert page.get_by_role("button", name="Training…").is_disabled()
    second = page.context.new_page()
    second.goto(f"{studio.base}/#/train")
    second.get_by_role("button", name="Training…").wait_for()
    second.close()
    page.get_by_role("heading", name="studio-en-fr-2").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Train", exact=True).wait_for()
    assert _run(studio, "studio-en-fr-2")["state"] == "stopped"


def test_the_course_is_listed_and_read(studio: Studio) -> None:
    page = studio.open("learn")
    page.get_by_text(f"of {len(entries())} exercises").wait_for()
    page.get_by_role("link", name="Masking").click()
    page.get_by_role("heading", name="3 · Masking").wait_for()
    assert "a_s = exp(e_s)" in page.locator("pre").first.text_content()
    assert page.locator("article strong").first.text_content() == "The idea."
    page.get_by_role("link", name="Watch the mask in Walk").click()
    page.wait_for_url("**/#/walk")


def test_the_last_report_shows_the_learners_map_beside_the_reference(studio: Studio, course: Path) -> None:
    page = studio.open("learn", exercise="03_masking")
    report = page.get_by_role("region", name="Last report")
    report.get_by_text("Not right yet").wait_for()
    report.get_by_text("<img src=x onerror=alert(1)>").wait_for()
    assert page.locator("img").count() == 0
    mine, right = (report.get_by_role("region", name=name).locator("td") for name in ("Yours", "Reference"))
    assert [one.split() for one in mine.all_text_contents()] == [["0.50", "wrong"], ["0.50", "wrong"]]
    assert [one.strip() for one in right.all_text_contents()] == ["1.00", "0.00"]
    keep_report(course, entries()[2], Verdict("passed", "Every check passed."))
    page.get_by_role("button", name="Refresh").click()
    report.get_by_text("✓ Passed").wait_for()


SEEN = {
    "quality": ({"model": "demo-en-fr", "bin": "demo-en-fr:1"}, "section ol li"),
    "triage": ({"model": "demo-en-fr"}, "form"),
    "neighbours": ({"model": "demo-en-fr", "text": CAT}, "ol li"),
    "train": ({"run": "studio-en-fr-1"}, "[role=gridcell]"),
    "learn": ({"exercise": "03_masking"}, ".report table"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_these_views(open_studio: Open, scheme: str, course: Path) -> None:
    """axe finds nothing serious, and 360 pixels need no sideways scrolling."""
    from axe_playwright_python.sync_playwright import Axe

    studio = open_studio(color_scheme=scheme, viewport={"width": 360, "height": 740})
    _trained(studio)
    found = []
    for view, (query, awaited) in SEEN.items():
        page = studio.open(view, **query)
        page.locator(awaited).first.wait_for(timeout=60_000)
        if view == "triage":
            page.get_by_role("button", name="Try examples").click()
            page.get_by_role("button", name="Sort").click()
            page.locator("tbody tr").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found += [f"{view}: {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
    assert found == []
