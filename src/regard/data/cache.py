"""Caches folders of computed files by a key; each folder appears complete or not at all.

They are in REGARD_CACHE, or in the user's cache folder, and can be deleted at any time.
"""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from regard.files import locked, whole_folder
from regard.reading_files import read_json
from regard.text.input_error import InputError

_COMPLETE = "whole.json"
"""Written last: the size and checksum of every other file."""


def cache_folder() -> Path:
    named = os.environ.get("REGARD_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


def cached_folder(kind: str, key: str, build: Callable[[Path], None], notes: list[str] | None = None) -> Path:
    """The folder of this kind and key; if it is missing or damaged, `build` fills a new one.

    Processes that need the same folder wait for the first of them. A read-only cache works if it has the folder.
    """
    place = cache_folder() / kind / key[:40]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with locked(place.with_name(f"{place.name}.lock")):
            if _is_complete(place):
                return place
            if place.exists():
                shutil.rmtree(place)
                if notes is not None:
                    notes.append(f"the cache in {place} was damaged or incomplete: it was rebuilt")
            with whole_folder(place) as draft:
                build(draft)
                files = {path.name: _describe(path) for path in sorted(draft.iterdir())}
                (draft / _COMPLETE).write_text(json.dumps(files), encoding="utf-8")
            return place
    except OSError as problem:
        if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and _is_complete(place):
            return place
        raise _explain(problem, place) from problem


def _is_complete(place: Path) -> bool:
    try:
        files = read_json(place / _COMPLETE)
        return bool(files) and all(_describe(place / name) == known for name, known in files.items())
    except (FileNotFoundError, NotADirectoryError, ValueError, AttributeError):
        return False


def _describe(path: Path) -> list[int | str]:
    with path.open("rb") as file:
        return [os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()]


def _explain(problem: OSError, place: Path) -> InputError:
    reasons = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EFBIG: "a file would be larger than this disk or `ulimit -f` allows",
    }
    reason = reasons.get(problem.errno or 0)
    remedy = "Name another folder" if reason is None else "Free some space, or name another folder"
    return InputError(
        f"cannot keep prepared data in {place.parent}: {reason or problem.strerror or problem}; no partial files are "
        f"left there. {remedy} with the environment variable REGARD_CACHE"
    )
