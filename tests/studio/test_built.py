"""The committed build of the page: up to date with its sources, within its budget, without foreign addresses."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDIO = ROOT / "studio"
PAGE = ROOT / "src" / "regard" / "server" / "page"
SKIPPED = ("node_modules", "README.md", "make_fonts.py")
KB = 1000


def built() -> list[Path]:
    return sorted(path for path in PAGE.rglob("*") if path.is_file())


@pytest.mark.skipif(not STUDIO.is_dir(), reason="an installed package has the page, not its sources")
def test_the_page_was_built_from_these_sources() -> None:
    sources = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in STUDIO.rglob("*")
        if path.is_file()
        and (name := path.relative_to(STUDIO).as_posix()).split("/")[0] not in SKIPPED
        and not any(part.startswith(".") for part in path.relative_to(STUDIO).parts)
        and not name.endswith(".test.ts")
    }
    manifest = json.loads((PAGE / "manifest.json").read_text(encoding="utf-8"))["sources"]
    assert manifest == sources, "the page is older than its sources: run make studio"


def test_the_page_is_within_its_budget() -> None:
    index = (PAGE / "index.html").read_text(encoding="utf-8")
    first = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', index)
    assert first
    assert sum(len(gzip.compress((PAGE / name).read_bytes(), 9)) for name in first) <= 90 * KB
    fonts = sum(path.stat().st_size for path in built() if "fonts" in path.parts)
    others = sum(path.stat().st_size for path in built() if "fonts" not in path.parts)
    assert fonts <= 300 * KB
    assert others <= 400 * KB


def test_the_page_names_no_foreign_address() -> None:
    """Names of vocabularies are never fetched; links to documentation in error messages of Svelte are text."""
    known = ("http://www.w3.org/", "https://svelte.dev/e/")
    for path in built():
        if path.suffix in (".html", ".js", ".css"):
            found = re.findall(r"https?://[\w./-]+", path.read_text(encoding="utf-8"))
            assert not [address for address in found if not address.startswith(known)], path.name


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm on this machine; install Node 20")
def test_building_again_gives_the_same_page(tmp_path: Path) -> None:
    copy, out = tmp_path / "studio", tmp_path / "page"
    shutil.copytree(STUDIO, copy, ignore=shutil.ignore_patterns("node_modules"))
    run = {"cwd": copy, "check": True, "capture_output": True, "timeout": 600}
    subprocess.run(["npm", "install", "--no-save", "--no-audit", "--no-fund"], **run)
    subprocess.run(["npm", "run", "build"], **run, env={**os.environ, "STUDIO_OUT": str(out)})
    again = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    committed = {
        name: path.read_bytes()
        for path in built()
        if not (name := path.relative_to(PAGE).as_posix()).startswith("fonts/")
    }
    assert again.keys() == committed.keys()
    assert not [name for name in again if again[name] != committed[name]]
