"""Where translations go: standard output, or a file that bears its name only when it is complete."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from regard.bundle.folder import explain
from regard.cli.screen import warn
from regard.files import standard_stream
from regard.text.errors import InputError


@runtime_checkable
class Output(Protocol):
    """What lines are written to."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


@contextmanager
def open_output(path: Path | None) -> Iterator[Output]:
    """What was written before something went wrong stays in NAME.part; a device or pipe is written to as it is."""
    if path is None:
        yield sys.stdout
        return
    place = Path(os.path.realpath(path))
    if (stream := standard_stream(place)) is not None:
        yield stream
        return
    whole = place.is_file() or not place.exists()
    draft = place.with_name(f"{place.name}.part") if whole else place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        if whole:
            draft.replace(place)
    except BaseException as error:
        if whole and draft.is_file():
            _leave(draft)
        if isinstance(error, OSError):
            raise explain(error, path) from error
        raise


def refuse_to_write_over(written: dict[str, Path | None], read: Iterable[Path | None]) -> None:
    """A file that is read is not replaced by what is made from it; `written` is keyed by option.

    What cannot be written at all is refused here too, before hours of work are in vain.
    """
    for path in written.values():
        if path is not None:
            _check_place(path)
    sources = [path.stat() for path in read if path is not None and path.is_file()]
    for option, path in written.items():
        if path is not None and path.is_file() and any(os.path.samestat(path.stat(), source) for source in sources):
            raise InputError(f"{option} {path} is what is read: name another file")
    refuse_one_file(written)


def refuse_one_file(written: dict[str, Path | None]) -> None:
    """One output is not replaced by another; a device takes both."""
    options: dict[Path, str] = {}
    for option, path in written.items():
        if path is None or path.is_char_device():
            continue
        place = path.resolve()
        if place in options:
            raise InputError(f"{options[place]} and {option} name one file, {place}: name two")
        options[place] = option


def _check_place(path: Path) -> None:
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        place = Path(os.path.realpath(path))
        folder = place.parent
        while not folder.exists() and not folder.is_symlink():
            folder = folder.parent
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if (place.is_file() or not place.exists()) and not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise explain(error, path) from error


def _leave(draft: Path) -> None:
    if draft.stat().st_size:
        warn(f"what was translated so far is in {draft}")
    else:
        draft.unlink()
