"""Exported pages behind a plain web server, opened in Chromium."""

import functools
import http.server
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME, read_manifest
from regard.export.web_page import PageModel, export_web
from regard.lab.about_model import about_model, name_models


def export(folder: Path, bundles: Sequence[str | Path]) -> Path:
    """What `regard export web BUNDLE… --out FOLDER` writes."""
    models = []
    for name, origin, path in name_models(bundles):
        place = find_bundle(path)
        about = about_model(read_manifest(place / NAME), place, name if origin == "package" else None)
        models.append(PageModel(path, {"id": name, "origin": origin, "can_step": True, **about}))
    export_web(models, folder)
    return folder


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[Any]:
    """`python -m http.server`; yields the server."""
    handler = functools.partial(_Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class BrowserPage:
    """An open page; console errors, page errors and foreign requests are collected."""

    page: Any
    base: str
    troubles: list[str] = field(default_factory=list)

    def open(self, view: str = "translate", **query: Any) -> Any:
        self.page.goto(f"{self.base}#/{view}?{urlencode(query)}")
        return self.page

    def call(self, script: str, *arguments: Any) -> Any:
        """A function of the page's `regard`: page.call("many", "en-fr", texts)."""
        return self.page.evaluate("([name, ...rest]) => regard[name](...rest)", [script, *arguments])

    def translation(self) -> str:
        return str(self.page.get_by_test_id("translation").text_content()).strip()


@contextmanager
def opened(browser: Any, base: str, **context: Any) -> Iterator[BrowserPage]:
    """A fresh context with a page that fails at the end if anything went wrong in it."""
    own = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"} | context)
    own.set_default_timeout(60_000)
    found = BrowserPage(own.new_page(), base)
    own.on("request", lambda one: _check(one.url, base, found.troubles))
    found.page.on("console", lambda one: one.type == "error" and found.troubles.append(f"console: {one.text}"))
    found.page.on("pageerror", lambda one: found.troubles.append(f"page error: {one}"))
    try:
        yield found
    finally:
        own.close()
    assert found.troubles == []


def _check(url: str, base: str, troubles: list[str]) -> None:
    if not url.startswith((base.removesuffix("index.html"), "data:", "blob:")):
        troubles.append(f"foreign request: {url}")
