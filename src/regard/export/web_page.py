"""Writes a folder of static files that translates in the browser: the built page, the runtime and the models."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regard
from regard.bundle.bundle_folder import check_earlier_export, whole_folder
from regard.bundle.find import find_bundle
from regard.bundle.manifest import NAME, read_manifest
from regard.bundle.store import load_bundle
from regard.export.web_model import as_script, pack_model
from regard.export.write_folder import check_exportable
from regard.runtime.onnx_folder import is_onnx
from regard.text.input_error import InputError

PAGE = Path(__file__).parent / "page"
STUDIO = Path(__file__).parents[1] / "server" / "page"
MARKER = "regard-web.json"
"""Lists the files of an export; a folder without it is not replaced."""
MODELS, VERSION = "__MODELS__", "__VERSION__"
"""What index.html and sw.js have in place of the list of models and of the version."""
FORMAT = 1
SHARED = ("fonts", "view.js", "view.css")
"""What the page has in common with the studio."""


@dataclass(frozen=True)
class PageModel:
    """A bundle to export, and what the page says about it (the fields of `GET /models`)."""

    path: Path
    about: dict[str, Any]


def export_web(models: Sequence[PageModel], folder: Path) -> dict[str, int]:
    """Write the folder, whole or not at all; the sizes of its files in bytes, by name."""
    if not (PAGE / "index.html").is_file():
        raise InputError("the page is not built: run make studio (needs Node 20), or install a released wheel")
    for model in models:
        check_model(model.path)
    check_earlier_export(folder, MARKER)
    with whole_folder(folder, MARKER, "a page of regard") as draft:
        _copy(PAGE, draft)
        (draft / "manifest.json").unlink()
        for name in SHARED:
            _copy(STUDIO / name, draft / name)
        (draft / "models").mkdir()
        listed = []
        for model in models:
            script = as_script(pack_model(load_bundle(model.path), model.about))
            file = f"models/{model.about['id']}.js"
            (draft / file).write_bytes(script)
            listed.append({"about": model.about, "file": file, "bytes": len(script)})
        _fill(draft / "index.html", MODELS, _in_script({"models": listed, "runtime": _size(draft / "runtime.js")}))
        version = hashlib.sha256(json.dumps(_files(draft)).encode()).hexdigest()[:16]
        _fill(draft / "sw.js", VERSION, version)
        files = _files(draft)
        about = {"format": "regard-web", "version": FORMAT, "regard": regard.__version__, "files": files}
        (draft / MARKER).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        return {name: _size(draft / name) for name in files}


def check_model(path: Path) -> None:
    """Raise for a bundle that cannot be exported, with the setting and the remedy, before anything is written."""
    bundle = find_bundle(path)
    if is_onnx(bundle):
        raise InputError(f"{path} is an ONNX folder: export the bundle that it was made from")
    check_exportable(bundle, read_manifest(bundle / NAME).model)


def _copy(source: Path, target: Path) -> None:
    """A file, or a folder file by file: an error of the disk is raised itself; copytree would raise a list."""
    if not source.is_dir():
        shutil.copyfile(source, target)
        return
    target.mkdir(exist_ok=True)
    for one in sorted(source.iterdir()):
        _copy(one, target / one.name)


def _fill(path: Path, hole: str, content: str) -> None:
    text = path.read_text(encoding="utf-8")
    if hole not in text:
        raise AssertionError(f"{path.name} has no {hole}: build the page again (make studio)")
    path.write_text(text.replace(hole, content), encoding="utf-8")


def _in_script(content: Any) -> str:
    """JSON that stands inside a script element: no character of it can end the element."""
    text = json.dumps(content, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _files(folder: Path) -> dict[str, str]:
    """SHA-256 of every file, by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _size(path: Path) -> int:
    return path.stat().st_size
