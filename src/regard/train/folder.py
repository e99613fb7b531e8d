"""The run folder: who may write into it, and what a resumed run must find unchanged."""

import json
import shutil
from pathlib import Path
from typing import Any

from regard.bundle.folder import explain, recover, write_whole
from regard.text.errors import InputError
from regard.train.recipe import Recipe, parse_recipe


def claim_folder(folder: Path, recipe: Recipe, *, resume: bool, overwrite: bool) -> None:
    """Make the run folder ours, or say why it cannot be."""
    written = folder / "recipe.json"
    for name in ("last", "best"):
        recover(folder / name)
    if resume:
        if not written.is_file():
            raise InputError(f"nothing to resume in {folder}: there is no run; leave --resume out to start one")
        _refuse_changes(written, recipe)
        return
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder with --out")
    if folder.is_dir() and any(folder.iterdir()):
        if not overwrite:
            raise InputError(
                f"{folder} exists already: --resume goes on with that run, --overwrite starts anew, "
                "--out names another folder"
            )
        if not written.is_file():
            raise InputError(f"{folder} is not a run of ours, so it is not overwritten: name another folder with --out")
        _clear(folder)
    write_whole(written, recipe.model_dump_json(indent=2))


def _refuse_changes(written: Path, recipe: Recipe) -> None:
    before = parse_recipe(json.loads(written.read_text(encoding="utf-8")), str(written))
    changed = differences(before.model_dump(mode="json"), recipe.model_dump(mode="json"))
    if changed:
        raise InputError(
            f"{written.parent} was started with another recipe ({'; '.join(changed)}): resume with the same one, "
            "or start a new run with --out"
        )


def differences(before: dict[str, Any], after: dict[str, Any], path: str = "") -> list[str]:
    changed = []
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            changed += differences(old, new, f"{path}{key}.")
        elif old != new:
            changed.append(f"{path}{key} was {old!r}, is {new!r}")
    return changed


def _clear(folder: Path) -> None:
    try:
        for name in ("last", "best", "last.old", "best.old", "average"):
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in ("journal.jsonl", "recipe.json", "curve.png"):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise explain(error, folder) from error
