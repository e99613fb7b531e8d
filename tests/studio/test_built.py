"""The committed builds of both pages: up to date with their sources, within budget, without foreign addresses."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from page_scripts import from_script

ROOT = Path(__file__).parents[2]
STUDIO = ROOT / "studio"
PAGE = ROOT / "src" / "regard" / "server" / "page"
BROWSER_PAGE = ROOT / "src" / "regard" / "export" / "page"
SKIPPED = ("node_modules", "licences", "README.md", "make_fonts.py")
KB, MB = 1000, 1_000_000


def built(page: Path = PAGE) -> list[Path]:
    return sorted(path for path in page.rglob("*") if path.is_file())


@pytest.mark.skipif(not STUDIO.is_dir(), reason="an installed package has the page, not its sources")
def test_the_pages_were_built_from_these_sources() -> None:
    sources = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in STUDIO.rglob("*")
        if path.is_file()
        and (name := path.relative_to(STUDIO).as_posix()).split("/")[0] not in SKIPPED
        and not any(part.startswith(".") for part in path.relative_to(STUDIO).parts)
        and not name.endswith(".test.ts")
    }
    manifest = json.loads((BROWSER_PAGE / "manifest.json").read_text(encoding="utf-8"))["sources"]
    assert manifest == sources, "the page without a server is older than its sources: run make studio"
    manifest = json.loads((PAGE / "manifest.json").read_text(encoding="utf-8"))["sources"]
    own = {name: value for name, value in sources.items() if not name.startswith("src/browser/")}
    assert manifest == own, "the page is older than its sources: run make studio"


def test_the_page_is_within_its_budget() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    first = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', index)
    assert first
    assert sum(len(gzip.compress((PAGE / name).read_bytes(), 9)) for name in first) <= 90 * KB
    fonts = sum(path.stat().st_size for path in built() if "fonts" in path.parts)
    others = sum(path.stat().st_size for path in built() if "fonts" not in path.parts)
    assert fonts <= 300 * KB
    assert others <= 400 * KB


def test_the_page_without_a_server_is_within_its_budget() -> None:
    assert (BROWSER_PAGE / "runtime.js").stat().st_size <= 4 * MB
    assert len(gzip.compress((BROWSER_PAGE / "app.js").read_bytes(), 9)) <= 90 * KB
    assert {path.relative_to(BROWSER_PAGE).as_posix() for path in built(BROWSER_PAGE)} == {
        "app.css", "app.js", "index.html", "licences/onnxruntime-third-party.txt", "licences/onnxruntime.txt",
        "manifest.json", "runtime.js", "sw.js",
    }  # fmt: skip


def test_the_pages_name_no_foreign_address() -> None:
    """Names of vocabularies are never fetched; links to documentation in error messages of libraries are text."""
    known = ("http://www.w3.org/", "https://svelte.dev/e/", "https://web.dev/cross-origin-isolation-guide/")
    for path in (*built(), *built(BROWSER_PAGE)):
        if path.name != "runtime.js" and path.suffix in (".html", ".js", ".css"):
            found = re.findall(r"https?://[\w./-]+", path.read_text(encoding="utf-8"))
            assert not [address for address in found if not address.startswith(known)], path.name


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine; install Node 20")
def test_building_again_gives_the_same_page(tmp_path: Path) -> None:
    copy, out, other = tmp_path / "studio", tmp_path / "page", tmp_path / "browser"
    shutil.copytree(STUDIO, copy, ignore=shutil.ignore_patterns("node_modules"))
    run = {"cwd": copy, "check": True, "capture_output": True, "timeout": 600}
    subprocess.run(["npm", "install", "--no-save", "--no-audit", "--no-fund"], **run)
    subprocess.run(
        ["npm", "run", "build"], **run, env={**os.environ, "STUDIO_OUT": str(out), "BROWSER_OUT": str(other)}
    )
    for path in built(BROWSER_PAGE):
        same = (other / path.relative_to(BROWSER_PAGE)).read_bytes()
        if path.name == "runtime.js":  # another release of zlib may compress otherwise
            assert from_script(same) == from_script(path.read_bytes())
        else:
            assert same == path.read_bytes(), path.name
    again = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    committed = {
        name: path.read_bytes()
        for path in built()
        if not (name := path.relative_to(PAGE).as_posix()).startswith("fonts/")
    }
    assert again.keys() == committed.keys()
    assert not [name for name in again if again[name] != committed[name]]
