"""The run folder: who may write into it, and what a resumed run must find unchanged."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from regard.bounds import excerpt
from regard.bundle.folder import explain, recover, write_whole
from regard.files import read_json
from regard.text.errors import InputError
from regard.train.recipe import Recipe, parse_recipe

if sys.platform != "win32":
    import fcntl

RECIPE = "recipe.json"
OURS = ("last", "best", "average", "tensorboard", "journal.jsonl", "curve.png")
"""What a run leaves behind, besides its recipe."""


def check_folder(folder: Path, recipe: Recipe, *, resume: bool, overwrite: bool) -> None:
    """Refuse a folder that a run must not touch; nothing is written yet."""
    if resume and overwrite:
        raise InputError("--resume goes on with a run and --overwrite replaces it: choose one")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder with --out")
    if resume:
        if not _is_run(folder):
            raise InputError(f"nothing to resume in {folder}: there is no run; leave --resume out to start one")
        _refuse_changes(folder, recipe)
    elif not _is_empty(folder):
        if not _is_run(folder):
            raise InputError(f"{folder} holds something else than a run, which is left alone: name another with --out")
        if not overwrite:
            raise InputError(
                f"{folder} exists already: --resume goes on with that run, --overwrite starts anew, "
                "--out names another folder"
            )
    _check_writable(folder)


def _check_writable(folder: Path) -> None:
    """A disk that takes nothing should show before the data is read, not after."""
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    try:
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise explain(error, folder) from error


@contextmanager
def claimed(folder: Path, recipe: Recipe, *, resume: bool) -> Iterator[None]:
    """The folder is ours alone while the block runs; a new run first removes what an old one left, and only that.

    The recipe is written last and never missing in between, so a kill leaves a run that can be overwritten again.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = hold_folder(folder, f"another process is training in {folder}")
    except OSError as error:
        raise explain(error, folder) from error
    try:
        _clear(folder, everything=not resume)
        if not resume:
            write_whole(folder / RECIPE, recipe.model_dump_json(indent=2))
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _clear(folder: Path, everything: bool) -> None:
    """Remove what a killed process left half done; with it, if wanted, everything else that a run leaves."""
    names, endings = tuple(f".{name}" for name in (*OURS, RECIPE)), (".old", ".part")
    try:
        if not everything:
            recover(folder / "last")
            recover(folder / "best")
        halves = [path for path in folder.iterdir() if path.name.startswith(names) and path.suffix in endings]
        for path in (*halves, *(folder / name for name in OURS if everything)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise explain(error, folder) from error


def hold_folder(folder: Path, refusal: str) -> int | None:
    """Hold the folder until the file descriptor is closed; the lock dies with the process, however that ends."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise InputError(f"{refusal}: wait for it, or stop it first") from error
    except OSError:
        os.close(descriptor)  # a file system without locks
        return None
    return descriptor


def _is_empty(folder: Path) -> bool:
    """Whether nothing is in it but a recipe that a killed process had only begun to write."""
    return not folder.exists() or all(path.name == f".{RECIPE}.part" for path in folder.iterdir())


def _is_run(folder: Path) -> bool:
    """Whether we wrote its recipe: another program's recipe.json has no such tables."""
    try:
        written = read_json(folder / RECIPE)
    except (OSError, ValueError):
        return False
    return isinstance(written, dict) and {"data", "text", "model", "train", "search"} <= written.keys()


def _refuse_changes(folder: Path, recipe: Recipe) -> None:
    written = folder / RECIPE
    before = parse_recipe(read_json(written), str(written))
    changed = differences(before.model_dump(mode="json"), recipe.model_dump(mode="json"))
    if changed:
        raise InputError(
            f"{folder} was started with another recipe ({'; '.join(changed)}): resume with the same one, or start a "
            f"new run with --out (train.start_from={folder} begins with its weights)"
        )


def differences(before: dict[str, Any], after: dict[str, Any], path: str = "") -> list[str]:
    """The keys whose values differ, with both values; a description may change."""
    changed = []
    for key in sorted({*before, *after} - {"description"}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            changed += differences(old, new, f"{path}{key}.")
        elif old != new:
            changed.append(f"{path}{key} was {_shown(old)}, is {_shown(new)}")
    return changed


def _shown(value: Any) -> str:
    return "not set" if value is None else excerpt(value)
