"""Figures as JSON that took minutes to measure: what the disk refuses goes to the screen."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from regard.bundle.folder import explain
from regard.cli.screen import warn
from regard.files import is_special, spare_name, write_whole


@contextmanager
def keeping(record: Mapping[str, Any], path: Path | None) -> Iterator[None]:
    """Write the record when the work within is done; what it holds when the work breaks off goes to a new NAME.part.

    Where the disk refuses it, it goes to the screen.
    """
    try:
        yield
    except BaseException:
        if path is not None and any(isinstance(part, list) and part for part in record.values()):
            _write(record, path, "what was measured so far is in", spare=not is_special(path))
        raise
    if path is not None:
        _write(record, path, "written:")


def _write(record: Mapping[str, Any], path: Path, said: str, spare: bool = False) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    try:
        path = spare_name(path) if spare else path
        write_whole(path, text, parents=True)
    except OSError as error:
        typer.echo(text)
        raise explain(error, path) from error
    warn(f"{said} {path}")
