"""Atomic writes and locks: a file or folder appears complete or not at all, and no two writers share a temporary name.

A temporary file or folder (draft) lies beside its target as `.NAME-xxxxxxxx.part`. It is created exclusively and locked
while its writer lives; the next writer of the same target removes the drafts of killed processes. Failures are raised
as OSError.
"""

import errno
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from itertools import count
from pathlib import Path
from typing import BinaryIO, TextIO

if sys.platform != "win32":
    import fcntl

PAUSE = 0.2
"""Seconds between two attempts to take a lock."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""Error numbers of file systems without locks; some network file systems cannot lock folders."""


def hold(path: Path, *, create: bool = False) -> int | None:
    """Lock a file or folder until the returned descriptor is closed or the process ends in any way.

    BlockingIOError: another process holds it. None: this file system has no locks.
    """
    if sys.platform == "win32":
        return None
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW if create else os.O_RDONLY | os.O_NONBLOCK
    with ExitStack() as opened:
        descriptor = os.open(path, flags, 0o666)
        opened.callback(os.close, descriptor)
        if not _lock(descriptor):
            return None
        opened.pop_all()
        return descriptor


def _lock(descriptor: int) -> bool:
    """Take the lock; False if this file system has no locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


@contextmanager
def locked(path: Path, waits: Callable[[], None] = lambda: None, *, repeat: bool = False) -> Iterator[None]:
    """Hold a lock file, which is created and stays; `waits` is called once (or repeatedly) while another holds it."""
    with ExitStack() as lock:
        for attempt in count():
            try:
                descriptor = hold(path, create=True)
                break
            except BlockingIOError:
                if repeat or not attempt:
                    waits()
                time.sleep(PAUSE)
        if descriptor is not None:
            lock.callback(os.close, descriptor)
        yield


def write_whole(path: str | os.PathLike[str], data: str | bytes, *, parents: bool = False) -> None:
    """Replace a file in one step, as `whole_file` does; text is written as UTF-8."""
    with whole_file(Path(path), parents=parents) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def whole_file(
    path: Path, *, parents: bool = False, kept: Callable[[Path], object] | None = None
) -> Iterator[BinaryIO]:
    """A file that replaces `path` when the block ends without an error; otherwise it is removed.

    An existing file's mode, owner and group stay; a new one follows the umask. A symbolic link stays and its target is
    replaced; other hard links keep the old content. A file without write permission is not replaced. Devices, pipes and
    the file behind standard output are written to directly. With `kept`, an unfinished file that is not empty is moved
    to a new name (see `spare_name`), which `kept` is called with. `parents` creates missing folders.
    """
    if (standard := standard_stream(path)) is not None:
        standard.flush()
        yield standard.buffer
        standard.buffer.flush()
    elif is_special(path):
        with open(path, "wb", opener=lambda name, flags: os.open(name, os.O_WRONLY)) as device:
            yield device
    else:
        place = Path(os.path.realpath(path))
        if parents:
            place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            os.close(os.open(place, os.O_WRONLY))  # raises if it is a folder or write-protected
        _sweep(place)
        with _new_file(place) as file:
            draft = Path(file.name)
            try:
                yield file
                file.flush()
                _fsync(file.fileno())
                publish(draft, place)
            except BaseException:
                if kept is not None:
                    with suppress(OSError):
                        kept(_keep(file, place))
                raise
            finally:
                with suppress(OSError):
                    file.close()
                with suppress(OSError):
                    draft.unlink(missing_ok=True)


def publish(draft: Path, place: Path) -> None:
    """Move a complete file, synced before, to its name."""
    os.replace(draft, place)
    with suppress(OSError):  # the new file is in place, synced or not
        sync(place.parent)


def spare_name(place: Path) -> Path:
    """An empty new file NAME.part, or NAME.2.part and so on if that exists."""
    for number in count(1):
        spare = place.with_name(f"{place.name}.part" if number == 1 else f"{place.name}.{number}.part")
        with suppress(FileExistsError):
            spare.touch(exist_ok=False)
            break
    return spare


def is_special(path: Path) -> bool:
    """Whether this is a device, pipe or socket, which is opened rather than replaced."""
    with suppress(OSError):
        mode = os.stat(path).st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def standard_stream(path: Path) -> TextIO | None:
    """Standard output or error if it is redirected to this file: replacing the file would lose earlier output."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # AttributeError: a process may have neither
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
                return stream
    return None


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A draft folder beside `target` that replaces it when the block ends without an error.

    A process killed at any time leaves the old folder, the new one, or (between two renames) the old one under a
    hidden name, from which `recover` restores it.
    """
    place, draft = Path(os.path.realpath(target)), None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        with ExitStack() as lock:
            draft = _new_folder(place, lock)
            yield draft
            _settle(draft)
            _swap(draft, place)
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def recover(target: Path) -> None:
    """Undo an interrupted swap of folders."""
    place = Path(os.path.realpath(target))
    old = place.parent / f".{place.name}.old"
    if old.is_dir() and not place.exists():
        with suppress(OSError):  # the writer is alive and was faster, or the disk is read-only
            old.rename(place)


def sync(path: Path) -> None:
    """fsync a file or folder."""
    if sys.platform == "win32" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _fsync(descriptor)
    finally:
        os.close(descriptor)


def _fsync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # some file systems cannot sync a folder
            raise


def _draft(place: Path, mark: str, quote: Callable[[str], str] = str) -> str:
    """A draft's name; the target's name is shortened to stay within the file system's limit."""
    return f".{quote(place.name[:50])}-{mark}.part"


def _new_file(place: Path) -> BinaryIO:
    """A locked draft with the mode and owner of the file it will replace.

    Another writer's sweep may remove it before it is locked: then another one is created.
    """
    while True:
        file = open(place.with_name(_draft(place, secrets.token_hex(4))), "xb")  # noqa: SIM115
        with suppress(FileNotFoundError):
            before = os.stat(place)
            for owner in ((-1, before.st_gid), (before.st_uid, -1)):
                with suppress(OSError):
                    os.chown(file.name, *owner)
            os.chmod(file.name, before.st_mode & 0o777)
        with suppress(BlockingIOError):
            _lock(file.fileno())
            if os.path.exists(file.name):
                return file
        file.close()


def _new_folder(place: Path, lock: ExitStack) -> Path:
    """A locked draft; as with files, another writer's sweep may remove it first."""
    while True:
        draft = place.with_name(_draft(place, secrets.token_hex(4)))
        draft.mkdir()
        with suppress(FileNotFoundError, BlockingIOError):
            descriptor = hold(draft)
            if descriptor is not None:
                lock.callback(os.close, descriptor)
            if draft.exists():
                return draft


def _sweep(place: Path) -> None:
    """Remove unlocked drafts of this target: their process was killed."""
    for draft in place.parent.glob(_draft(place, "[0-9a-f]" * 8, escape)):
        with suppress(OSError):
            descriptor = hold(draft)
            if descriptor is None:
                return  # without locks it is unknown whether the writer lives
            with ExitStack() as lock:
                lock.callback(os.close, descriptor)
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()


def _keep(file: BinaryIO, place: Path) -> Path:
    """Move an unfinished file to a new name; OSError if it is empty or gone."""
    with suppress(OSError):
        file.flush()
    if not os.stat(file.name).st_size:
        raise FileNotFoundError(errno.ENOENT, "nothing was written")
    spare = spare_name(place)
    os.replace(file.name, spare)
    return spare


def _settle(draft: Path) -> None:
    """fsync every file and give it the permissions of the folder (safetensors writes private files)."""
    mode = draft.stat().st_mode & 0o666
    for path in draft.rglob("*"):
        if path.is_file():
            path.chmod(mode)
        sync(path)
    sync(draft)


def _swap(draft: Path, place: Path) -> None:
    old = place.parent / f".{place.name}.old"
    for left in reversed(range(100)):
        try:
            if place.exists():
                shutil.rmtree(old, ignore_errors=True)
                place.rename(old)
            draft.rename(place)
            break
        except OSError as error:
            # A race: a reader put the old folder back, or another writer was faster. Retry.
            disturbed = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT) and draft.exists()
            if not disturbed or not left:
                recover(place)
                raise
    with suppress(OSError):  # the new folder is in place, synced or not
        sync(place.parent)  # before the old one is removed: a power loss could otherwise restore it, half empty
    shutil.rmtree(old, ignore_errors=True)
