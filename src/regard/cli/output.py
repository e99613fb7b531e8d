"""Output files: checked before the work, written atomically after it."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import typer

from regard.bundle.bundle_folder import explaining, write_whole
from regard.cli.escape import warn
from regard.data.lines import find_file
from regard.files import is_special, spare_name, standard_stream, whole_file
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")

ROOM = 4096
"""Bytes written as a test: a full disk takes the name of a file, but no content."""
RUN_FILES = ("manifest.json", "*.safetensors", "*.tokenizer.json", "training.json", "recipe.json", "journal.jsonl")
"""The files of a bundle or run folder that are read."""
STANDARD_INPUT = Path("/dev/stdin")


@runtime_checkable
class Output(Protocol):
    """A file or stream for lines."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


@contextmanager
def open_output(path: Path | None) -> Iterator[Output]:
    """A stream that becomes the file when the block ends; after an error or Ctrl-C it is kept as NAME.part."""
    stream = sys.stdout if path is None else standard_stream(path)
    if path is None or stream is not None:
        yield stream or sys.stdout
        return
    with (
        explaining(path),
        whole_file(path, parents=True, kept=lambda name: warn(f"the output so far is in {name}")) as file,
    ):
        lines = TextIOWrapper(file, encoding="utf-8", newline="\n")
        try:
            yield lines
        finally:
            lines.detach()  # which flushes it


def check_outputs(
    written: Mapping[str, Path | None],
    read: Iterable[Path | None] = (),
    *,
    parents: bool,
    remedies: Mapping[str, str] | None = None,
) -> None:
    """Raise for an output that cannot be written, that is also an input, or that another output would replace.

    `written` is keyed by option; `read` are files, bundles and run folders. `remedies` is, for an option, a further
    remedy for an output that is also an input.
    """
    outputs = {option: path for option, path in written.items() if path is not None}
    for option, path in outputs.items():
        _check_place(option, path, parents)
    inputs = [one for path in read if path is not None for one in _files_of(path)]
    for option, path in outputs.items():
        if any(_same(path, one) for one in inputs):
            remedy = (remedies or {}).get(option, "")
            raise InputError(f"{option} {path} is also an input: name another file{remedy}")
    for one in inputs:
        if standard_stream(one) is sys.stdout:  # `--input F >> F` would read its own output
            raise InputError(f"standard output goes to {one}, which is also an input: name another file")
    for (option, path), (other, same) in combinations(outputs.items(), 2):
        if _same(path, same):
            raise InputError(f"{option} and {other} name the same file, {same}: name two")


def _same(path: Path, other: Path) -> bool:
    """Whether two paths are the same regular file, links followed."""
    if path.is_file() and other.is_file():
        return path.samefile(other)
    return not is_special(path) and os.path.realpath(path) == os.path.realpath(other)


def _check_place(option: str, path: Path, parents: bool) -> None:
    with explaining(path):
        if path.is_dir():
            raise InputError(f"{option}: {path} is a folder; name a file in it")
        if is_special(path):
            return  # a device or pipe cannot be tested
        place = Path(os.path.realpath(path))
        folder = next(one for one in place.parents if one.exists())
        if folder != place.parent and folder.is_dir() and not parents:
            raise InputError(
                f"{option}: there is no folder {path.parent} to write {path.name} into; --parents creates it"
            )
        with suppress(FileNotFoundError):
            os.close(os.open(place, os.O_WRONLY))
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))


def _files_of(path: Path) -> list[Path]:
    """The regular files that are read for a path: itself, its compressed form, or the files of a bundle or run."""
    if path.is_dir():
        folders = (path, path / "best", path / "last")
        return [one for folder in folders for pattern in RUN_FILES for one in folder.glob(pattern) if one.is_file()]
    with suppress(InputError):
        return [find_file(path)]
    return []


def check_picture(path: Path, *also: str) -> None:
    """Raise for a picture format that is not supported; `also` are further endings that the caller can write."""
    valid = (*PICTURES, *also)
    if path.suffix.lower() not in valid:
        raise InputError(f"{path} ends in {path.suffix or 'nothing'}; expected {', '.join(valid[:-1])} or {valid[-1]}")


def write_picture(figure: "Figure", path: Path) -> None:
    from regard.plot import picture

    write_whole(path, picture(figure, path.suffix.lower().removeprefix(".")))


@contextmanager
def keep_record(record: Mapping[str, Any], path: Path | None) -> Iterator[None]:
    """Write `record` as JSON when the block ends; after an error, write its finished parts to a new file NAME.part.

    Measuring takes minutes: if the disk refuses the file, the record is printed.
    """
    try:
        yield
    except BaseException:
        if path is not None and any(isinstance(part, list) and part for part in record.values()):
            place = path if is_special(path) else spare_name(path)
            _write_record(record, place, f"the figures measured so far are in {place}")
        raise
    if path is not None:
        _write_record(record, path, f"written: {path}")


def _write_record(record: Mapping[str, Any], path: Path, note: str) -> None:
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    try:
        write_whole(path, text)
    except InputError:
        typer.echo(text)
        raise
    warn(note)
