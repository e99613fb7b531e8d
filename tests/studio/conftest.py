"""A real Chromium against a real server: Playwright drives the page as a person would."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
CAT = "the black cat sat on the mat"


def missing() -> str | None:
    """Why no browser test can run on this machine."""
    absent = [name for name in ("playwright", "axe_playwright_python", "fastapi", "uvicorn") if find_spec(name) is None]
    if absent:
        return f"needs {' and '.join(absent)}: pip install -e '.[dev,studio]'"
    return None if CHROMIUM else "no Chromium on this machine; on Debian: apt-get install chromium"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for each file of tests. Playwright's event loop must not outlive it: other tests have their own."""
    if reason := missing():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The studio with the demo models, an untrained model of each kind, and an attention file."""
    if missing():
        pytest.skip("no browser")
    from regard.server.settings import Settings
    from runtime.bundles import untrained
    from server.conftest import running
    from studio.arabic import ARABIC, ENGLISH, arabic_bundle

    base: Path = tmp_path_factory.mktemp("models")
    bundles = [untrained(base / name, name) for name in ("vanilla", "transformer", "luong")]
    bundles.append(untrained(base / "local-p", "luong", model={"window": "local-p", "reach": 2}))
    bundles.append(untrained(base / "bpe", "bahdanau", "bpe"))
    bundles += [arabic_bundle(base / "arabic"), arabic_bundle(base / "to-arabic", ENGLISH, ARABIC)]
    mine = base / "mine.json"
    weights = [[[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]]
    mine.write_text(json.dumps({"weights": weights, "source": "the cat", "target": "le chat"}), encoding="utf-8")
    names = ("demo-en-fr", "demo-en-hi", *bundles)
    with running(Settings(bundles=names, studio=True, attention=(mine,), seconds=120.0)) as (client, _, _):
        yield client


@dataclass
class Studio:
    """A page of the studio. Console errors and warnings, page errors and foreign requests fail the test at its end."""

    page: Any
    base: str
    client: Any
    troubles: list[str] = field(default_factory=list)

    def open(self, view: str = "translate", **query: Any) -> Any:
        self.page.goto(f"{self.base}/#/{view}?{urlencode(query)}")
        return self.page

    def api(self, path: str, **body: Any) -> Any:
        answer = self.client.post(f"/api/v1{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def spoken(self) -> str:
        return str(self.page.get_by_test_id("live").text_content())

    def says(self, text: str) -> None:
        """Wait until the live region contains the text."""
        self.page.wait_for_function(
            "text => document.querySelector('[data-testid=live]').textContent.includes(text)", arg=text
        )

    def translation(self) -> str:
        return str(self.page.get_by_test_id("translation").text_content()).strip()

    def focused(self) -> str:
        """The accessible name or text of the focused element."""
        name = self.page.evaluate("document.activeElement.getAttribute('aria-label')")
        return str(name or self.page.evaluate("document.activeElement.textContent.trim()"))

    def tab_to(self, selector: str, most: int = 60) -> None:
        """Press Tab until an element that matches has the focus."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    def grid(self, name: str = "") -> list[list[float]]:
        """The values of the first map, or of the one whose label has this text."""
        values: list[list[float]] = self.page.evaluate(
            """name => {
                const grids = [...document.querySelectorAll('[role=grid]')];
                const grid = grids.find((one) => one.ariaLabel.includes(name));
                const cells = (row) => [...row.querySelectorAll('[role=gridcell]')];
                const rows = [...grid.querySelectorAll('[role=row]')].slice(1);
                return rows.map((row) => cells(row).map((cell) => Number(cell.dataset.value)));
            }""",
            name,
        )
        return values


@pytest.fixture
def open_studio(browser: Any, server: Any) -> Iterator[Callable[..., Studio]]:
    """open_studio(color_scheme="dark", viewport={…}): a fresh context and page."""
    made: list[tuple[Any, Studio]] = []
    base = str(server.base_url).rstrip("/")

    def start(**context: Any) -> Studio:
        own = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"} | context)
        own.set_default_timeout(20_000)
        page = own.new_page()
        studio = Studio(page, base, server)
        page.on(
            "console",
            lambda message: message.type in ("error", "warning") and studio.troubles.append(f"console: {message.text}"),
        )
        page.on("pageerror", lambda error: studio.troubles.append(f"page error: {error}"))

        def watch(request: Any) -> None:
            parts = urlsplit(request.url)
            if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != base:
                studio.troubles.append(f"foreign request: {request.url}")

        page.on("request", watch)
        made.append((own, studio))
        return studio

    yield start
    for context, studio in made:
        context.close()
        assert studio.troubles == []


@pytest.fixture
def studio(open_studio: Callable[..., Studio]) -> Studio:
    return open_studio()
