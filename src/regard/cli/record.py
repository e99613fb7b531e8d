"""Figures as JSON that took minutes to measure: the place is tried before, and what it refuses goes to the screen."""

import errno
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from regard.bundle.folder import explain
from regard.cli.screen import warn
from regard.text.errors import InputError

ROOM = 4096
"""Bytes that a disk must take in advance: a full one takes the name of a file, but nothing in it."""


def check_writable(path: Path, option: str) -> None:
    """Refuse at once what could not be written after the work; a device or pipe has to be believed."""
    if path.is_dir():
        raise InputError(f"{option}: {path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{option}: there is no folder {path.parent} to write {path.name} into")
    if path.exists() and not path.is_file():
        return
    there = path.exists()
    try:
        if there:
            path.open("ab").close()
        try:
            with tempfile.TemporaryFile(dir=path.parent) as file:
                file.write(bytes(ROOM))
        except OSError as error:
            # A file that is there may be written where its folder takes no other.
            if not there or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
    except OSError as error:
        raise explain(error, path) from error


@contextmanager
def keeping(record: Mapping[str, Any], path: Path | None) -> Iterator[None]:
    """Write the record when the work within is done; what it holds when the work breaks off goes to NAME.part.

    Where the disk refuses it, it goes to the screen.
    """
    try:
        yield
    except BaseException:
        if path is not None and any(isinstance(part, list) and part for part in record.values()):
            draft = path.with_name(f"{path.name}.part") if path.is_file() or not path.exists() else path
            _write(record, draft, "what was measured so far is in")
        raise
    if path is not None:
        _write(record, path, "written:")


def _write(record: Mapping[str, Any], path: Path, said: str) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        typer.echo(text)
        raise explain(error, path) from error
    warn(f"{said} {path}")
