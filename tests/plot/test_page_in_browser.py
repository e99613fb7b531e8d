"""The page in a real browser: the grid is built, the keyboard moves and pins, and the sentence is spoken."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.plot import AttentionMap, alignment_html

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
        if (path := shutil.which(name))
    ),
    None,
)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on this machine; on Debian: apt-get install chromium"
)

CATCHER = "window.seen = []; addEventListener('error', (event) => seen.push(event.message));"
# Presses keys as a person would and writes down what the page then says.
DRIVER = """
const article = () => document.querySelector("article:not([hidden])");
const cells = () => [...article().querySelectorAll("td[role=gridcell]")];
const say = () => article().querySelector("[role=status]").textContent;
const press = (key, more = {}) =>
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
const log = { errors: window.seen };
log.invitation = say();
log.stops = cells().filter((cell) => cell.tabIndex === 0).length;
cells().find((cell) => cell.tabIndex === 0).focus();
log.first = say();
press("ArrowDown"); press("ArrowDown"); press("ArrowRight");
log.moved = say();
log.lit = [...article().querySelectorAll("th.on, li.on")].map((node) => node.textContent);
log.cross = article().querySelectorAll(".cross").length;
press("Enter");
log.pinned = say();
log.selected = article().querySelectorAll("[aria-selected=true]").length;
press("Escape");
log.cleared = [say(), article().querySelectorAll("[aria-selected=true], .cross, .on").length];
press("End"); log.end = say();
press("Home"); log.home = say();
press("End", { ctrlKey: true }); log.last = say();
press("ArrowRight"); press("ArrowDown"); log.edge = say();
log.stopsAfter = cells().filter((cell) => cell.tabIndex === 0).length;
const row = article().querySelector("tbody th");
row.dispatchEvent(new PointerEvent("pointerenter"));
log.row = say();
log.painted = new Set(cells().map((cell) => cell.style.backgroundColor)).size;
log.ribbons = article().querySelectorAll(".ribbons path").length;
document.getElementById("next").click();
log.second = [article().id, cells().length, article().querySelector("bdi").lang, location.hash];
document.documentElement.setAttribute("data-log", JSON.stringify(log));
"""

# How far, in pixels, a ribbon ends from the middle of a word, once the page's own font is there.
RIBBONS = """
setTimeout(() => {
  const svg = document.querySelector(".ribbons svg"), frame = svg.getBoundingClientRect();
  const middle = (node) => { const r = node.getBoundingClientRect(); return r.left + r.width / 2 - frame.left; };
  const [tops, ends] = [...document.querySelectorAll(".ribbons ol")].map((list) => [...list.children].map(middle));
  const away = (x, places) => Math.min(...places.map((place) => Math.abs(place - x)));
  const gaps = [...svg.children].map((path) => path.getAttribute("d").match(/[0-9.]+/g).map(Number))
    .map((numbers) => Math.max(away(numbers[0], tops), away(numbers[6], ends)));
  const log = { errors: window.seen, fonts: [...document.fonts].map((face) => face.status), gap: Math.max(...gaps) };
  document.documentElement.setAttribute("data-log", JSON.stringify(log));
}, 1000);
"""


def in_browser(page: str, folder: Path, driver: str) -> tuple[str, dict[str, Any]]:
    """The page's DOM after its scripts ran, and what the driver wrote down; the policy lets the driver in."""
    digest = base64.b64encode(hashlib.sha256(driver.encode()).digest()).decode()
    caught = base64.b64encode(hashlib.sha256(CATCHER.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' 'sha256-{caught}' ")
    page = page.replace("<title>", f"<script>{CATCHER}</script><title>")
    page = page.replace("</body>", f"<script>{driver}</script></body>")
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder / 'profile'}"]
    options += ["--virtual-time-budget=5000", "--dump-dom"]
    done = subprocess.run(
        [str(BROWSER), *options, file.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    found = re.search(r'data-log="([^"]*)"', done.stdout)
    assert found, "the driver did not finish"
    return done.stdout, json.loads(unescape(found[1]))


@needs_browser
def test_the_keyboard_walks_the_map_and_the_page_says_what_is_seen(cat: AttentionMap, tmp_path: Path) -> None:
    second = AttentionMap(np.eye(2), ["<b>x</b>", "y"], ["लाइट", None], languages=("en", "hi"))
    dom, log = in_browser(alignment_html([cat, second]), tmp_path, DRIVER)
    assert log["errors"] == []
    assert log["invitation"].startswith("Point at a cell")
    assert (log["stops"], log["stopsAfter"]) == (1, 1), "the grid is one stop of the tab key"
    assert log["first"] == "le attends 90 percent to the; a sure gold link"
    assert log["moved"] == "noir attends 93 percent to black; a sure gold link"
    assert sorted(log["lit"]) == ["black", "black", "noir", "noir"], "both words, on the map and in the sentences"
    assert log["cross"] == 5 + 6 - 1
    assert log["pinned"].endswith("(pinned)")
    assert log["selected"] == 1
    assert log["cleared"][0] == log["invitation"]
    assert log["cleared"][1] == 0
    assert log["end"] == "noir attends 0 percent to EOS"
    assert log["home"] == "noir attends 2 percent to the"
    assert log["last"] == log["edge"] == "EOS attends 98 percent to EOS"
    assert log["row"] == "le attends 90 percent to the, 6 percent to cat"
    assert log["painted"] > 5
    assert log["ribbons"] == int((cat.drawn() >= 0.05).sum())
    assert log["second"] == ["sentence-2", 4, "en", "#sentence-2"]
    assert "<b>x" not in dom


@needs_browser
def test_ribbons_meet_their_words_in_an_embedded_font(lights: AttentionMap, tmp_path: Path) -> None:
    _, log = in_browser(alignment_html([lights]), tmp_path, RIBBONS)
    assert log["errors"] == []
    assert log["fonts"] == ["loaded"]
    assert log["gap"] < 0.5
