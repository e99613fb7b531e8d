"""The lines that `regard translate` reads: from a file, standard input, a pipe or a terminal."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from regard.data.lines import decode_lines, read_lines

CHUNK = 256
"""Lines that are translated together: enough for full batches, few enough to see progress."""


def read_batches(path: Path | None) -> Iterator[list[str]]:
    """Lines to translate together; only a line feed ends a line, and bytes that are not UTF-8 are an error."""
    from regard.cli.arriving import ArrivingLines

    if path is not None and not is_stream(path):
        yield from chunks(read_lines(path))
        return
    with nullcontext(sys.stdin.buffer) if path is None else path.open("rb") as stream:
        name = "standard input" if path is None else str(path)
        file = _descriptor(stream)
        yield from chunks(decode_lines(stream, name)) if file is None else ArrivingLines(file, name).batches(CHUNK)


def _descriptor(stream: Any) -> int | None:
    """The file descriptor of a pipe, socket or terminal, whose lines arrive one by one; None for anything else."""
    try:
        file: int = stream.fileno()
    except OSError:
        return None
    kind = os.fstat(file).st_mode
    return file if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(file) else None


def count_lines(path: Path) -> int | None:
    """The number of lines of a file, which checks its encoding; None for a stream, which can be read only once."""
    return None if is_stream(path) else sum(1 for _ in read_lines(path))


def is_stream(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    lines = iter(lines)
    while batch := list(islice(lines, CHUNK)):
        yield batch
