"""The run folder: locking, cleaning, and the checks before a run is started, resumed or overwritten."""

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from regard.bounds import excerpt
from regard.bundle.bundle_folder import explaining, write_whole
from regard.bundle.manifest import FORMAT, has_format, read_manifest
from regard.bundle.manifest import NAME as MANIFEST
from regard.bundle.store import identity
from regard.files import hold, recover
from regard.models.model_config import RecurrentConfig
from regard.reading_files import read_json, read_object
from regard.text.input_error import InputError
from regard.training.journal import NAME as JOURNAL
from regard.training.journal import read_journal
from regard.training.portable import located_recipe, movable_recipe
from regard.training.recipe import Recipe, find_recipe, parse_recipe

RECIPE = "recipe.json"
OURS = ("last", "best", "average", "tensorboard", JOURNAL, "replay.jsonl", "curve.png")
"""The files of a run, besides its recipe."""
Claim = Callable[[], AbstractContextManager[None]]
"""Locks the folder that was checked, while its block runs."""


def check_folder(folder: Path, recipe: Recipe, *, resume: bool, overwrite: bool) -> Claim:
    """Raise for a folder that the run must not change; nothing is written yet. The result locks the folder."""
    state = _look(folder, recipe, resume, overwrite)
    _check_writable(folder)
    return partial(_claimed, folder, recipe, resume, overwrite, state)


def _look(folder: Path, recipe: Recipe, resume: bool, overwrite: bool) -> tuple[object, ...]:
    """Check the folder; returns the identities of its files, which change if another process trains there."""
    if resume and overwrite:
        raise InputError("--resume continues a run and --overwrite replaces it: choose one")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name a folder with --out")
    if resume:
        if not is_run(folder):
            raise InputError(f"nothing to resume in {folder}: there is no run; leave --resume out to start one")
        _refuse_changes(folder, recipe)
        _refuse_lost_checkpoint(folder)
    elif not _is_empty(folder):
        if not is_run(folder):
            raise InputError(
                f"{folder} holds files that are not a run, and is left unchanged: name another folder with --out"
            )
        if not overwrite:
            raise InputError(
                f"{folder} exists already: --resume continues that run, --overwrite replaces it, "
                "--out names another folder"
            )
    return tuple(identity(folder / name) for name in (RECIPE, JOURNAL, "last", "best"))


def _refuse_lost_checkpoint(folder: Path) -> None:
    """Raise if the checkpoint is missing, unless the run was stopped before its first one: work would be lost."""
    recover(folder / "last")
    recover(folder / "best")
    ended = any(entry["event"] == "finished" for entry in read_journal(folder / JOURNAL))
    if (folder / "last").exists() or not ((folder / "best").exists() or ended):
        return
    there = [f"{name}/" if (folder / name).is_dir() else name for name in OURS if (folder / name).exists()]
    with suppress(InputError):
        step = read_manifest(folder / "best" / MANIFEST).trained.get("steps")
        there = [f"best/ of step {step}" if name == "best/" else name for name in there]
    raise InputError(
        f"cannot resume in {folder}: its checkpoint last/ is missing, and a new start would replace its files "
        f"({', '.join(there)}): put last/ back, start a new run with these weights (--out NEW --set "
        f"train.start_from={folder}), or replace them with --overwrite"
    )


def _check_writable(folder: Path) -> None:
    """Create a temporary file, so that a disk that cannot be written is reported before the data is read."""
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    with explaining(folder), TemporaryFile(dir=place):
        pass


@contextmanager
def _claimed(folder: Path, recipe: Recipe, resume: bool, overwrite: bool, state: tuple[object, ...]) -> Iterator[None]:
    """Lock the folder while the block runs; a new run first removes the files of an old one, and only those.

    The locked folder is checked again, because another process may have trained there meanwhile. The recipe is
    replaced last and exists at all times, so a killed process leaves a run that can be overwritten again.
    """
    with hold_folder(folder, f"another process is training in {folder}"):
        if _look(folder, recipe, resume, overwrite) != state:
            raise InputError(
                f"another process trained in {folder} while this one was starting: check its results there, and "
                "start again"
            )
        _clear(folder, everything=not resume)
        if not resume:
            write_whole(folder / RECIPE, json.dumps(movable_recipe(recipe, folder), indent=2, ensure_ascii=False))
        yield


def _clear(folder: Path, everything: bool) -> None:
    """Remove the temporary files of killed processes, and on request all other files of a run."""
    names, endings = tuple(f".{name}" for name in (*OURS, RECIPE)), (".old", ".part")
    with explaining(folder):
        if not everything:
            recover(folder / "last")
            recover(folder / "best")
        halves = [path for path in folder.iterdir() if path.name.startswith(names) and path.suffix in endings]
        for path in (*halves, *(folder / name for name in OURS if everything)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


@contextmanager
def hold_folder(folder: Path, refusal: str) -> Iterator[None]:
    """Lock the folder, which is created if missing, while the block runs; the lock ends with the process, too."""
    with ExitStack() as lock:
        with explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                descriptor = hold(folder)
            except BlockingIOError as error:
                raise InputError(f"{refusal}: wait for it, or stop it first") from error
        if descriptor is not None:
            lock.callback(os.close, descriptor)
        yield


def _is_empty(folder: Path) -> bool:
    """Whether the folder holds only the unfinished recipe of a killed process."""
    return not folder.exists() or all(
        path.name.startswith(f".{RECIPE}") and path.suffix == ".part" for path in folder.iterdir()
    )


def is_run(folder: Path) -> bool:
    """Whether regard wrote its recipe: another program's recipe.json has other tables."""
    return {"data", "text", "model", "train", "search"} <= read_object(folder / RECIPE).keys()


def read_run_recipe(folder: Path) -> Recipe:
    """The recipe of a run, with its paths found again if the run was moved together with its data."""
    path = folder / RECIPE
    return parse_recipe(located_recipe(read_json(path), folder), str(path))


def _refuse_changes(folder: Path, recipe: Recipe) -> None:
    changed = differences(movable_recipe(read_run_recipe(folder), folder), movable_recipe(recipe, folder))
    if changed:
        raise InputError(
            f"{folder} was started with another recipe ({'; '.join(changed)}): resume with the same one, or start a "
            f"new run with --out (train.start_from={folder} starts from its weights)"
        )


def differences(
    before: dict[str, Any], after: dict[str, Any], path: str = "", form: str = "{key} was {old}, is {new}"
) -> list[str]:
    """The keys whose values differ, with both values; a description may change."""
    changed = []
    for key in sorted({*before, *after} - {"description"}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            changed += differences(old, new, f"{path}{key}.", form)
        elif old != new:
            changed.append(form.format(key=f"{path}{key}", old=_shown(old), new=_shown(new)))
    return changed


def _shown(value: Any) -> str:
    return "not set" if value is None else excerpt(value)


def own_classes(recipes: Iterable[Recipe], *files: str | Path, trust: Collection[str] = ()) -> tuple[str, ...]:
    """The classes outside regard that may be imported: those in `trust` and in the user's own recipes.

    A recipe file in a run folder or a bundle may come from another person: none of its classes is added.
    """
    named = (trust,) if isinstance(trust, str) else tuple(trust)
    folders = {folder for file in files for folder in find_recipe(file).resolve().parents}
    if any(is_run(folder) or has_format(folder, FORMAT) for folder in folders):
        return named
    scores = [one.model.score for one in recipes if isinstance(one.model, RecurrentConfig) and ":" in one.model.score]
    return tuple(dict.fromkeys((*named, *scores)))
