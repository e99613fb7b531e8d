"""`make docs`: the site builds without a warning, its links resolve, it fetches nothing, and its search works."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (find_spec("mkdocs") and find_spec("material") and find_spec("mkdocstrings")):
        pytest.skip("needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "link", "iframe") and given.get("rel") != "canonical":
            self.loaded += [given[name] for name in ("src", "href") if name in given]


def test_the_reference_of_attention_gives_the_shapes_that_signatures_name() -> None:
    """The page shows `prepare(states: States, …)`, without the definition of `States`."""
    protocol = (ROOT / "src" / "regard" / "attention" / "protocol.py").read_text(encoding="utf-8")
    shapes = re.findall(r'^(\w+) = (\w+\[Tensor, "[^"]+"\])$', protocol, flags=re.MULTILINE)
    assert shapes
    page = (ROOT / "docs" / "reference" / "attention.md").read_text(encoding="utf-8")
    for name, shape in shapes:
        assert f"| `{name}` | `{shape}` |" in page


def test_links_resolve_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 50
    for path, page in pages.items():
        for address in page.loaded:
            assert not urlsplit(address).netloc, f"{path.relative_to(site)} loads {address}"
        for address in page.links + page.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            if target not in pages:
                target = target / "index.html" if target.is_dir() else target
                assert target.exists(), f"{path.relative_to(site)} links to {address}"
            if parts.fragment and target in pages:
                known = pages[target].anchors
                assert unquote(parts.fragment) in known, f"{path.relative_to(site)} links to {address}"


def test_every_page_of_the_repository_is_in_the_site(site: Path) -> None:
    """Pages of docs/ that the navigation leaves out are a warning, and so an error; commands come from the program."""
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for option in ("regard translate", "--length-penalty", "--save-settings"):
        assert option in commands
    assert "BahdanauAttention" in (site / "reference" / "attention.html").read_text(encoding="utf-8")
    assert "show where they look" in (site / "index.html").read_text(encoding="utf-8")


def test_equations_are_mathml_and_maps_can_be_explored(site: Path) -> None:
    for name, equations in (("01-bottleneck", 1), ("02-alignment", 1), ("04-luong", 2), ("07-self-attention", 2)):
        page = (site / "story" / f"{name}.html").read_text(encoding="utf-8")
        assert page.count('<math display="block">') == equations, name
        assert "<mtext>=" not in page, "a relation was taken for a remark"
        assert "```" not in page
    assert 'src="maps/walk.html"' in (site / "story" / "02-alignment.html").read_text(encoding="utf-8")
    assert "tapis" in (site / "story" / "maps" / "walk.html").read_text(encoding="utf-8")


def test_search_works_in_a_browser_from_the_disk(site: Path) -> None:
    if CHROMIUM is None or find_spec("playwright") is None:
        reason = "needs Chromium and the package playwright"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    foreign: list[str] = []
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: foreign.append(request.url) if request.url.startswith("http") else None)
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("additive")
        page.wait_for_selector(".md-search-result__item")
        found = page.inner_text(".md-search-result__meta")
        browser.close()
    assert re.match(r"\d+ matching documents", found)
    assert not foreign
