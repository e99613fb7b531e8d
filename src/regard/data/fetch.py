"""Fetches a corpus of the catalogue: copied from a local folder or downloaded, and verified either way."""

import errno
import hashlib
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regard.data.catalogue import CatalogueEntry, TextFile, data_folders, is_here
from regard.data.download import download
from regard.data.lines import COMPRESSED, DAMAGED, find_file, open_bytes
from regard.files import locked, publish, sync, whole_file
from regard.text.input_error import InputError

Watch = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes that are done, and their total where it is known."""
Origin = Literal["kept", "copied", "downloaded"]
WAITING = "waiting for another process that fetches "
"""Passed to `Watch` instead of a file's name while another process holds the lock."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class FetchedCorpus:
    """The folder of a corpus, and the origin of each file."""

    folder: Path
    files: dict[str, Origin]


def get(
    entry: CatalogueEntry,
    origin: Path | None = None,
    home: Path | None = None,
    watch: Watch = lambda name, done, total: None,
) -> FetchedCorpus:
    """Fetch the files of a corpus that are missing or damaged, from the folder `origin` or from their public URL.

    Processes that fetch the same corpus wait for the first of them.
    """
    home = home or data_folders()[0]
    folder = home / entry.name
    files: dict[str, Origin] = dict.fromkeys(entry.all_files, "kept")
    missing = damaged(entry, folder)
    if origin is not None:
        origin = _find_origin(entry, origin)
    else:
        _refuse_private(entry, folder, missing)
    if not missing:
        return FetchedCorpus(folder, files)
    with ExitStack() as lock:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.enter_context(locked(home / f".{entry.name}.lock", lambda: watch(f"{WAITING}{entry.name}", 0, None)))
        except OSError as problem:
            raise _unwritable(folder, problem) from problem
        for name in damaged(entry, folder):
            try:
                if origin is not None:
                    _copy(find_file(origin / name), folder / name, entry.all_files[name], watch)
                else:
                    _download(folder / name, entry.all_files[name], watch)
            except OSError as problem:
                raise _unwritable(folder / name, problem) from problem
            files[name] = "downloaded" if origin is None else "copied"
    return FetchedCorpus(folder, files)


def damaged(entry: CatalogueEntry, folder: Path) -> list[str]:
    """The files of a local copy that are missing or differ from the catalogue's checksum."""
    return [name for name, file in entry.all_files.items() if not _matches(folder / name, file)]


def _refuse_private(entry: CatalogueEntry, folder: Path, missing: list[str]) -> None:
    private = [name for name in missing if entry.all_files[name].address is None]
    if private:
        raise InputError(
            f"{entry.name} has no public address for {private[0]}{' and others' if len(private) > 1 else ''} "
            f"({entry.origin}): give the folder of a local copy with --from, or in REGARD_DATA; expected in {folder}"
        )


def _find_origin(entry: CatalogueEntry, origin: Path) -> Path:
    """The corpus inside the given folder, or the folder itself if it is the corpus."""
    if not origin.is_dir():
        raise InputError(f"--from {origin}: there is no such folder")
    places = [place for place in (origin / entry.name, origin) if place.is_dir()]
    missing = {place: [name for name in entry.all_files if not is_here(place / name)] for place in places}
    for place in places:
        if not missing[place]:
            return place
    first = missing[places[0]]
    raise InputError(
        f"--from {origin}: no complete copy of {entry.name} in it or in its folder {entry.name}/; missing: "
        f"{', '.join(first[:3])}{f' and {len(first) - 3} more' if len(first) > 3 else ''}"
    )


def _matches(path: Path, file: TextFile) -> bool:
    """Whether the file, compressed or not, has the text that the catalogue lists."""
    try:
        return is_here(path) and text_digest(find_file(path), file.bytes) == file.sha256
    except (OSError, *DAMAGED):
        return False


def text_digest(path: Path, most: int | None = None) -> str:
    """SHA-256 of a file's uncompressed text; reading stops after more than `most` bytes."""
    digest, done = hashlib.sha256(), 0
    with open_bytes(path) as file:
        while (block := file.read(_BLOCK)) and (most is None or done <= most):
            digest.update(block)
            done += len(block)
    return digest.hexdigest()


def _copy(origin: Path, place: Path, file: TextFile, watch: Watch) -> None:
    if not _matches(origin, file):
        raise InputError(
            f"{origin} differs from the file in the catalogue: it is damaged or of another edition "
            f"(expected a text of {file.lines:,} lines, SHA-256 {file.sha256[:12]}…)"
        )
    target = _compressed_like(origin, place)
    size = origin.stat().st_size
    watch(place.name, 0, size)
    with whole_file(target, parents=True) as copied, origin.open("rb") as read:
        shutil.copyfileobj(read, copied, _BLOCK)
    _remove_others(target, place)
    watch(place.name, size, size)


def _download(place: Path, file: TextFile, watch: Watch) -> None:
    address = file.address
    assert address is not None
    target = _compressed_like(Path(address.rsplit("/", 1)[-1]), place)
    part = target.with_name(f".{target.name}.part")  # a fixed name, so that a later attempt resumes; the lock is held
    part.parent.mkdir(parents=True, exist_ok=True)
    if part.is_symlink():
        part.unlink()  # a symbolic link: do not write to its target
    most = file.bytes + file.bytes // 100 + _BLOCK  # no compression makes a text longer than that
    for fresh in (False, True):
        resumed = download(address, part, lambda done, total: watch(place.name, done, total), most, fresh)
        if _matches(part, file):
            sync(part)
            publish(part, target)
            _remove_others(target, place)
            return
        part.unlink()
        if not resumed:  # only a part of another edition would explain the difference
            break
    raise InputError(
        f"{address} differs from the file in the catalogue (expected a text of {file.bytes:,} bytes, SHA-256 "
        f"{file.sha256[:12]}…): it was changed on the server or in transit, and is not kept; try again later, or take "
        "a local copy with --from"
    )


def _remove_others(target: Path, place: Path) -> None:
    """Remove the same file with another compression, which `find_file` would find first."""
    for ending in ("", *COMPRESSED):
        other = place.with_name(place.name + ending)
        if other != target:
            other.unlink(missing_ok=True)


def _compressed_like(origin: Path, place: Path) -> Path:
    """The name of a local file that is compressed like its origin."""
    return place.with_name(place.name + origin.suffix) if origin.suffix in COMPRESSED else place


def _unwritable(place: Path, problem: OSError) -> InputError:
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "free some space, or name another folder" if full else "name another folder"
    return InputError(f"cannot write {place}: {problem.strerror or problem}; {remedy} with REGARD_DATA")
