"""Reads files that may be damaged or forged: regular files only, of bounded size; JSON and TOML of bounded depth.

Errors of the system are OSError, invalid content is ValueError; callers add the file and the remedy.
"""

import errno
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from regard.bounds import MOST, excerpt

_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY}(?:[ \t]*+\.[ \t]*+{_KEY}){{{MOST['nesting']}}}")
"""A dotted key of many parts, over which `tomllib` takes quadratic time."""
_LONG_NUMBER = re.compile(r"\b0[xob]\w{1000}")
"""A number that Python can parse but not print."""


def open_regular(path: Path | str) -> BinaryIO:
    """Opens a regular file and never blocks: a device, pipe or socket is an OSError before it is opened."""
    _refuse_special(os.stat(path).st_mode)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _refuse_special(os.fstat(descriptor).st_mode)  # again: another file may have replaced it
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path | str, most: int = MOST["document"]) -> bytes:
    """The bytes of a regular file of at most `most` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise ValueError(f"it has {size:,} bytes, at most {most:,} are read")
        return file.read(size) or b""


def read_json(path: Path | str) -> Any:
    """The content of a small JSON file in UTF-8."""
    return parse_json(read_regular(path))


def read_object(path: Path | str) -> dict[str, Any]:
    """The object in a small JSON file; empty if there is none, or none that can be read."""
    try:
        return parse_object(read_regular(path)) or {}
    except (OSError, ValueError):
        return {}


def parse_json(data: bytes | str, *, unique: bool = False) -> Any:
    """Parse JSON of bounded depth and number of values; `unique` raises for duplicate keys in an object."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    containers = text.count("[") + text.count("{")
    if containers > MOST["containers"] or text.count(",") > MOST["values"]:
        raise ValueError(f"it has more than {MOST['containers']:,} lists and tables or {MOST['values']:,} values")
    try:
        value = json.loads(text, object_pairs_hook=_unique if unique else None)
    except (ValueError, RecursionError) as error:
        raise _plain(error) from None
    if containers > MOST["nesting"]:
        _refuse_deep(value)
    return value


def parse_object(line: bytes | str) -> dict[str, Any] | None:
    """The JSON object of a line; None if the line is not one."""
    try:
        found = parse_json(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML of bounded depth."""
    if _LONG_KEY.search(text):
        raise ValueError(_TOO_DEEP)
    if _LONG_NUMBER.search(text):
        raise ValueError(_TOO_LONG)
    try:
        value = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _plain(error) from None
    _refuse_deep(value)
    return value


_TOO_LONG = "it holds a number of thousands of digits"
_TOO_DEEP = f"it is nested more than {MOST['nesting']} levels deep"


def _plain(error: ValueError | RecursionError) -> ValueError:
    """The error, with our message for the two whose own message is about Python's limits."""
    if isinstance(error, RecursionError):
        return ValueError(_TOO_DEEP)
    return ValueError(_TOO_LONG) if str(error).startswith("Exceeds the") else error


def _refuse_special(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.ESPIPE, "this is a device, a pipe or a socket, expected a regular file")


def _refuse_deep(value: Any) -> None:
    level = [value]
    for _ in range(MOST["nesting"]):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {excerpt(twice)} occurs twice in one object")
    return found
