"""Writes bundle folders and files atomically; errors of the disk become one clear message."""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

from regard import files
from regard.bundle.manifest import FORMAT, NAME, ONNX_FORMAT
from regard.reading_files import read_json, read_object
from regard.text.input_error import InputError


@contextmanager
def whole_folder(target: Path, marker: str = NAME, kind: str = "a bundle") -> Iterator[Path]:
    """A temporary folder that replaces `target` when the block ends without an error (`regard.files.whole_folder`).

    A folder without the file `marker`, which holds anything but `kind`, is never replaced.
    """
    with explaining(target):
        _check_replaceable(Path(os.path.realpath(target)), target, marker, kind)
        with files.whole_folder(target) as draft:
            yield draft
            _check_replaceable(Path(os.path.realpath(target)), target, marker, kind)  # it may have changed meanwhile


def check_no_bundle_lost(target: Path, is_export: Callable[[Path], bool]) -> None:
    """Raise if `target` has a manifest but is no earlier export, or has files that are not part of that export."""
    if (target / NAME).exists() and not is_export(target):
        kinds = {FORMAT: "a bundle", ONNX_FORMAT: "an ONNX export"}
        held = kinds.get(str(read_object(target / NAME).get("format")), f"a {NAME} that regard cannot read")
        raise InputError(f"cannot write {target}: this folder holds {held}, which would be lost: name another folder")
    check_earlier_export(target)


def check_earlier_export(target: Path, marker: str = NAME) -> None:
    """Raise if an earlier export holds files that `marker` does not list: replacing the folder would lose them."""
    try:
        listed = {marker, *read_json(target / marker)["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return  # there is none: `whole_folder` decides
    for path in sorted(target.rglob("*")):
        name = path.relative_to(target).as_posix()
        if path.is_file() and name not in listed and path.name != ".DS_Store":  # macOS writes it by itself
            raise InputError(
                f"cannot write {target}: {name} is not part of the earlier export there and would be lost: "
                "move it, or name another folder"
            )


def write_whole(path: Path, data: str | bytes) -> None:
    """Replace a file in one step (`regard.files.whole_file`); missing folders are created."""
    with explaining(path):
        files.write_whole(path, data, parents=True)


class CannotWrite(InputError):
    """The system refused to write a file."""


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Errors of the disk inside the block are raised as one clear message about `path`."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise explain(error, path) from error


def explain(error: OSError | SafetensorError, path: Path) -> CannotWrite:
    """The error as one line, with the reason and the remedy."""
    reasons = {
        errno.ENOSPC: "the disk is full: free some space, or name another folder",
        errno.EDQUOT: "the disk quota is used up: free some space, or name another folder",
        errno.EFBIG: "the file would be larger than this disk or `ulimit -f` allows: name another folder",
        errno.EROFS: "the disk is read-only: name a folder on another one",
        errno.EACCES: "permission denied: name a folder you may write to",
        errno.EPERM: "not permitted: name a folder you may write to",
        errno.ENOTDIR: "a part of this path is a file, not a folder: name another one",
        errno.EEXIST: "a part of this path is a file, not a folder: name another one",
        errno.EISDIR: "this is a folder: name a file",
        errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    }
    number = _number(error)
    reason = reasons.get(number) or (os.strerror(number) if number else str(error))
    return CannotWrite(f"cannot write {path}: {reason}")


def _number(error: OSError | SafetensorError) -> int:
    """The system's error number; safetensors gives it only inside its message."""
    if isinstance(error, OSError):
        return error.errno or 0
    found = re.search(r"os error (\d+)", str(error))
    return int(found[1]) if found else 0


def _check_replaceable(place: Path, target: Path, marker: str, kind: str) -> None:
    held = _names(place)
    if held and marker not in held:
        raise InputError(
            f"cannot write {target}: this folder holds files that are not {kind} and would be lost: "
            "name another folder, or empty it"
        )


def _names(place: Path) -> list[str]:
    """The names in the folder, listed again if another process replaced the folder meanwhile."""
    if sys.platform == "win32":
        return os.listdir(place) if place.exists() else []
    while True:
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return []
        try:
            held = os.listdir(descriptor)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(place)):
                    return held
        finally:
            os.close(descriptor)
