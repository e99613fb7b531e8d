"""Lines of a text file, plain or compressed with gzip, xz or zstd; errors name the file and the line."""

import gzip
import lzma
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.bounds import MOST
from regard.suggest import suggest
from regard.text.input_error import InputError

COMPRESSED = (".gz", ".xz", ".zst")
DAMAGED = (EOFError, lzma.LZMAError, zlib.error)
"""Errors of decompression, besides an OSError without errno (gzip, zstd)."""
_ZSTD = b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_TEXT = frozenset(range(32)) - {*b"\t\n\v\f\r\x0e\x0f\x1a\x1b"}
"""Control characters that text never holds; Japanese encodings shift with some, DOS ends a file with 0x1a."""
_FOREIGN = {
    b"\xff\xfe\x00\x00": "is UTF-32, not UTF-8: convert it, e.g. iconv -f UTF-32 -t UTF-8",
    b"\x00\x00\xfe\xff": "is UTF-32, not UTF-8: convert it, e.g. iconv -f UTF-32 -t UTF-8",
    b"\xff\xfe": "is UTF-16, not UTF-8: convert it, e.g. iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16, not UTF-8: convert it, e.g. iconv -f UTF-16 -t UTF-8",
    _ZSTD: "is compressed with zstd: unpack it first, e.g. zstdcat",
    b"PK\x03\x04": "is a zip archive: unpack it",
    b"BZ": "is compressed with bzip2: unpack it, or use gzip or xz",
}


@runtime_checkable
class Readable(Protocol):
    """A binary file or stream."""

    def readline(self, size: int = -1, /) -> bytes: ...


class MissingFile(InputError):
    """No file has the name `path`."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"no file {path}: {reason}")
        self.path = path


def find_file(path: Path) -> Path:
    """The file, or the same name with .gz, .xz or .zst; otherwise the error names the nearest file that exists."""
    endings = COMPRESSED if path.name else ()  # . and / have no name
    for candidate in (path, *(path.with_name(path.name + suffix) for suffix in endings)):
        if candidate.is_file():
            return candidate
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a file")
    if path.exists():
        raise InputError(f"{path} is a device or a pipe, expected a file that can be read twice")
    folder = path.parent
    if not folder.is_dir():
        raise MissingFile(path, f"there is no folder {folder}")
    names = sorted(entry.name for entry in folder.iterdir())
    raise MissingFile(path, suggest(path.name, names, otherwise=f"nothing like it in {folder}"))


def read_lines(path: Path) -> Iterator[str]:
    """The lines, split at line feeds alone; a carriage return before one and a byte-order mark are dropped."""
    path = find_file(path)
    with open_bytes(path) as file:
        yield from decode_lines(file, str(path))


def decode_lines(stream: Readable, name: str, errors: str = "strict") -> Iterator[str]:
    """The lines of an open binary file or stream, as `read_lines` gives them; `name` is what errors call it.

    `errors` is the error handler of `bytes.decode` for a line that is not UTF-8.
    """
    number = before = 0
    try:
        for number, raw in enumerate(iter(partial(stream.readline, MOST["line"] + 1), b""), 1):
            if len(raw) > MOST["line"]:
                raise InputError(
                    f"{name}, line {number} has more than {MOST['line']:,} bytes: break it into lines of text"
                )
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if number == 1:
                _refuse_foreign(line, name)
                line = line.removeprefix(_BYTE_ORDER_MARK)
            try:
                text = line.decode(errors=errors)
            except UnicodeDecodeError as problem:
                place = before + raw.index(line) + problem.start
                raise InputError(
                    f"{name}, line {number}: byte {place} of the file (0x{line[problem.start]:02x}) is not UTF-8; "
                    f"{_remedy(line)}"
                ) from None
            if b"\0" in line:
                _refuse_zeros(line, f"{name}, line {number}")
            yield text
            before += len(raw)
    except (OSError, *DAMAGED) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise InputError(f"cannot read {name}: {problem.strerror}") from None
        raise InputError(f"{name} is damaged after line {number}: {problem}; fetch or pack it again") from None


def refuse_binary(start: bytes, name: str) -> None:
    """Raise if the first bytes of a file are not UTF-8 and more than 1 % of them never occur in text."""
    try:
        getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        strange = [byte for byte in start if byte in _NO_TEXT]
        if 100 * len(strange) > len(start):
            raise InputError(f"{name} is {_not_text(strange[0])}") from None


def _refuse_zeros(line: bytes, where: str) -> None:
    """Raise for many NUL bytes: another encoding, or not text. The normaliser drops a single one."""
    zeros = line.count(0)
    if zeros < 4 or 4 * zeros < len(line):
        return
    if zeros < len(line):
        raise InputError(f"{where} is UTF-16 or UTF-32, not UTF-8: convert the file, e.g. iconv -f UTF-16 -t UTF-8")
    raise InputError(f"{where} holds nothing but NUL bytes: its content was never written; copy the file again")


def _remedy(line: bytes) -> str:
    """How to fix a line that is not UTF-8: convert it, unless its bytes occur in no text encoding."""
    if strange := [byte for byte in line if byte in _NO_TEXT]:
        return _not_text(strange[0])
    return "convert the file, e.g. iconv -f LATIN1 -t UTF-8"


def _not_text(byte: int) -> str:
    return f"not a text file (it holds the byte 0x{byte:02x}): name one, plain or packed (gzip, xz, zstd)"


def open_bytes(path: Path) -> BufferedIOBase:
    """The decompressed bytes; the first bytes of the file, not its name, decide about the format."""
    try:
        with path.open("rb") as file:
            begins = file.read(6)
        if begins.startswith(b"\x1f\x8b"):
            return gzip.open(path, "rb")
        if begins == b"\xfd7zXZ\x00":
            return lzma.open(path, "rb")
        if begins.startswith(_ZSTD):
            library = import_extra("pyarrow", f"{path}, compressed with zstd,")
            return BufferedReader(library.input_stream(path, compression="zstd"))
        return path.open("rb")
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None


def import_extra(package: str, what: str) -> Any:
    """Import a package of the extra `data`; the error names the command that installs it."""
    try:
        return import_module(package)
    except ImportError:
        raise InputError(
            f"{what} needs the package {package}, which is not installed: pip install 'regard[data]'"
        ) from None


def _refuse_foreign(line: bytes, name: str) -> None:
    for begins, what in _FOREIGN.items():
        if line.startswith(begins) and (begins != b"BZ" or line[4:6] == b"1A"):
            raise InputError(f"{name} {what}")
