"""Folders that appear whole or not at all, whatever happens while they are written."""

import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import TextIO

from safetensors import SafetensorError

from regard.bundle.manifest import NAME
from regard.text.errors import InputError

if sys.platform != "win32":
    import fcntl


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A draft folder beside `target` that takes its place when the block ends well.

    A kill at any moment leaves the old folder, the new one, or (for an instant between two renames) the old one
    under a hidden name, from which `recover` puts it back. The next write removes drafts of processes that are gone.
    A folder that holds anything but a bundle is never replaced.
    """
    place, draft = Path(os.path.realpath(target)), None
    try:
        _check_replaceable(place, target)
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        with ExitStack() as lock:
            draft = _new_draft(place, lock)
            yield draft
            _settle(draft)
            _check_replaceable(place, target)  # writing took a while: somebody may have put other files there
            _swap(draft, place)
    except (OSError, SafetensorError) as error:
        raise explain(error, target) from error
    finally:
        if draft is not None:
            _remove(draft)


def recover(target: Path) -> None:
    """Undo a swap that was cut short."""
    place = Path(os.path.realpath(target))
    old = _set_aside(place)
    if old.is_dir() and not place.exists():
        with suppress(OSError):  # the writer lives and was quicker, or the disk is read-only
            old.rename(place)


def write_whole(path: Path, text: str) -> None:
    """A file that is replaced in one move; a device or a pipe is written to as it is."""
    place = Path(os.path.realpath(path))
    draft = place.parent / f".{place.name}.part"
    try:
        if (stream := standard_stream(place)) is not None:
            stream.write(text)
            stream.flush()
            return
        if place.exists() and not place.is_file() and not place.is_dir():
            place.write_text(text, encoding="utf-8")
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        _sync(draft)
        os.replace(draft, place)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def standard_stream(place: Path) -> TextIO | None:
    """Standard output or error where it goes into this very file: replaced, what was written to it would be lost."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(place)):
                return stream
    return None


def explain(error: OSError | SafetensorError, path: Path) -> InputError:
    """One clear line for a disk that will not take what we write."""
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
    return InputError(f"cannot write {path}: {reason}")


def _number(error: OSError | SafetensorError) -> int:
    """The system's error number; safetensors only writes it into its sentence."""
    if isinstance(error, OSError):
        return error.errno or 0
    found = re.search(r"os error (\d+)", str(error))
    return int(found[1]) if found else 0


def _check_replaceable(place: Path, target: Path) -> None:
    held = _names(place)
    if held and NAME not in held:
        raise InputError(
            f"cannot write {target}: this folder holds something else than a bundle, which would be lost: "
            "name another folder, or empty it"
        )


def _names(place: Path) -> list[str]:
    """What the folder there holds; one that another writer takes away while it is listed, and empties, is not it."""
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


def _set_aside(place: Path) -> Path:
    """Where the old folder waits while the new one takes its place."""
    return place.parent / f".{place.name}.old"


def _new_draft(place: Path, lock: ExitStack) -> Path:
    """A folder that is ours; another writer's sweep may take it away before it is locked: then another one."""
    while True:
        draft = place.parent / f".{place.name}-{secrets.token_hex(4)}.part"
        draft.mkdir()
        with suppress(FileNotFoundError, BlockingIOError):
            lock.enter_context(_locked(draft))
            if draft.exists():
                return draft


@contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """Hold a draft, or raise OSError where another process holds it; the lock dies with its process."""
    if sys.platform == "win32":
        yield
    else:
        descriptor = os.open(draft, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(descriptor)


def _sweep(place: Path) -> None:
    """Remove drafts of this folder that nobody holds: their process was killed."""
    for draft in place.parent.glob(f".{escape(place.name)}-????????.part"):
        with suppress(OSError), _locked(draft):
            shutil.rmtree(draft)


def _settle(draft: Path) -> None:
    """Everything on the disk for good, readable by whoever may read the folder (safetensors writes private files)."""
    mode = draft.stat().st_mode & 0o666
    for path in draft.rglob("*"):
        if path.is_file():
            path.chmod(mode)
        _sync(path)
    _sync(draft)


def _sync(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # some file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)


def _swap(draft: Path, place: Path) -> None:
    old = _set_aside(place)
    for left in reversed(range(100)):
        try:
            if place.exists():
                _remove(old)
                place.rename(old)
            draft.rename(place)
            break
        except OSError as error:
            # A reader put the old folder back in between, or another writer was quicker: once more.
            disturbed = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT) and draft.exists()
            if not disturbed or not left:
                recover(place)
                raise
    _remove(old)
    with suppress(OSError):  # the new folder is in its place, whatever happens now
        _sync(place.parent)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
