"""A corpus of the catalogue put into place: copied from a local folder or downloaded, and checked either way."""

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regard.data.catalogue import Entry, TextFile, data_folders, is_here
from regard.data.download import download
from regard.data.lines import COMPRESSED, DAMAGED, find_file, open_bytes
from regard.files import locked, publish, sync, whole_file
from regard.text.errors import InputError

Watch = Callable[[str, int, int | None], None]
"""Called with a file's name, how many of its bytes are done, and how many there are where that is known."""
How = Literal["kept", "copied", "downloaded"]
WAITING = "waiting for another process that fetches "
"""What `Watch` is told instead of a file's name while a lock is held elsewhere."""
_BLOCK = 1 << 20


def _unwatched(name: str, done: int, total: int | None) -> None:
    pass


@dataclass(frozen=True)
class Got:
    """Where a corpus lies now, and how each of its files came there."""

    folder: Path
    files: dict[str, How]


def get(entry: Entry, origin: Path | None = None, home: Path | None = None, watch: Watch = _unwatched) -> Got:
    """Every file of a corpus, from the folder `origin` or from its public address; what is here and whole stays.

    Several processes that want the same corpus wait for the first of them.
    """
    home = home or data_folders()[0]
    folder, wanted = home / entry.name, {**entry.files, **entry.also}
    missing = damaged(entry, folder)
    if origin is not None:
        origin = _find_origin(entry, origin)
    elif missing:
        _refuse_private(entry, folder, missing)
    files: dict[str, How] = dict.fromkeys(wanted, "kept")
    if not missing:
        return Got(folder, files)
    with ExitStack() as lock:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.enter_context(locked(home / f".{entry.name}.lock", lambda: watch(f"{WAITING}{entry.name}", 0, None)))
        except OSError as problem:
            raise unwritable(folder, problem) from problem
        for name in damaged(entry, folder):
            if origin is not None:
                _copy(find_file(origin / name), folder / name, wanted[name], entry, watch)
                files[name] = "copied"
            else:
                _download(folder / name, wanted[name], watch)
                files[name] = "downloaded"
    return Got(folder, files)


def damaged(entry: Entry, folder: Path) -> list[str]:
    """The files of a copy that are missing or hold another text than the catalogue says."""
    return [name for name, file in {**entry.files, **entry.also}.items() if not _whole(folder / name, file)]


def _refuse_private(entry: Entry, folder: Path, missing: Iterable[str]) -> None:
    closed = [name for name in missing if {**entry.files, **entry.also}[name].address is None]
    if closed:
        raise InputError(
            f"{entry.name} has no public address for {closed[0]}{' and others' if len(closed) > 1 else ''} "
            f"({entry.origin}): give the folder of a local copy with --from, or in REGARD_DATA; wanted in {folder}"
        )


def _find_origin(entry: Entry, origin: Path) -> Path:
    """The corpus inside the named folder, or the folder itself where it is the corpus."""
    for place in (origin / entry.name, origin):
        if place.is_dir() and all(is_here(place / name) for name in {**entry.files, **entry.also}):
            return place
    if not origin.is_dir():
        raise InputError(f"--from {origin}: there is no such folder")
    place = origin / entry.name if (origin / entry.name).is_dir() else origin
    missing = [name for name in {**entry.files, **entry.also} if not is_here(place / name)]
    raise InputError(
        f"--from {origin}: no whole copy of {entry.name} there, neither in {entry.name}/ nor beside; missing: "
        f"{', '.join(missing[:3])}{f' and {len(missing) - 3} more' if len(missing) > 3 else ''}"
    )


def _whole(path: Path, file: TextFile) -> bool:
    """Whether the file, packed or not, holds the text that the catalogue knows."""
    try:
        return is_here(path) and text_digest(find_file(path), file.bytes) == file.sha256
    except (OSError, *DAMAGED):
        return False


def text_digest(path: Path, most: int | None = None) -> str:
    """SHA-256 of a file's text, unpacked; of its beginning if there is more of it than that."""
    digest, done = hashlib.sha256(), 0
    with open_bytes(path) as file:
        while (block := file.read(_BLOCK)) and (most is None or done <= most):
            digest.update(block)
            done += len(block)
    return digest.hexdigest()


def _copy(origin: Path, place: Path, file: TextFile, entry: Entry, watch: Watch) -> None:
    if not _whole(origin, file):
        raise InputError(
            f"{origin} is not the file of {entry.name} that the catalogue knows: it is damaged or of another edition "
            f"(wanted a text of {file.lines:,} lines, SHA-256 {file.sha256[:12]}…)"
        )
    target = _packed(place, origin)
    try:
        watch(place.name, 0, origin.stat().st_size)
        with whole_file(target, parents=True) as copied, origin.open("rb") as read:
            shutil.copyfileobj(read, copied, _BLOCK)
        _remove_others(target, place)
        watch(place.name, target.stat().st_size, target.stat().st_size)
    except OSError as problem:
        raise unwritable(place, problem) from problem


def _download(place: Path, file: TextFile, watch: Watch) -> None:
    address = file.address
    assert address is not None
    target = _packed(place, Path(address.rsplit("/", 1)[-1]))
    part = target.with_name(f".{target.name}.part")  # one name, so that a later attempt resumes; the lock is held
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        if part.is_symlink():
            part.unlink()  # what it leads to is not ours
        for fresh in (False, True):
            most = file.bytes + file.bytes // 100 + _BLOCK  # no packer makes a text longer than that
            resumed = download(address, part, lambda done, total: watch(place.name, done, total), most, fresh)
            if _whole(part, file):
                sync(part)
                publish(part, target)
                _remove_others(target, place)
                return
            part.unlink()
            if not resumed:  # a part of another edition would explain it; a whole download does not
                break
    except OSError as problem:
        raise unwritable(place, problem) from problem
    raise InputError(
        f"{address} is not the file that the catalogue knows (wanted a text of {file.bytes:,} bytes, SHA-256 "
        f"{file.sha256[:12]}…): it was changed there or on the way, and is not kept; try again later, or take a local "
        "copy with --from"
    )


def _remove_others(target: Path, place: Path) -> None:
    """Remove the same file packed in another way, which would be found first."""
    for other in (place, *(place.with_name(place.name + ending) for ending in COMPRESSED)):
        if other != target:
            other.unlink(missing_ok=True)


def _packed(place: Path, origin: Path) -> Path:
    """The name of a file here, packed as it was there."""
    return place.with_name(place.name + origin.suffix) if origin.suffix in COMPRESSED else place


def unwritable(place: Path, problem: OSError) -> InputError:
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "free some space, or name another folder" if full else "name another folder"
    return InputError(f"cannot write {place}: {problem.strerror or problem}; {remedy} with REGARD_DATA")
