"""Files compressed with zstd, as a stream that notices when its end is missing; needs the extra `data`."""

import io
from pathlib import Path
from typing import Any

from regard.text.errors import InputError

BEGINS = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 17
_PACKED = 1 << 12
"""Bytes that are unpacked at a time: zeros become 30,000 times as many."""


def open_zstd(path: Path) -> io.BufferedReader:
    """The unpacked bytes, to be read like any binary file."""
    try:
        import zstandard
    except ImportError:
        raise InputError(
            f"{path} is compressed with zstd, which needs a package that is not installed: pip install 'regard[data]'; "
            "or pack it with gzip or xz"
        ) from None
    return io.BufferedReader(_Unpacked(path, zstandard), _BLOCK)


class _Unpacked(io.RawIOBase):
    """The library's own reader takes a file that was cut short for a whole one."""

    def __init__(self, path: Path, library: Any) -> None:
        self._file = path.open("rb")
        self._library = library
        self._frame = library.ZstdDecompressor().decompressobj()
        self._ready = memoryview(b"")
        self._untouched = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._untouched = self._library.ZstdDecompressor().decompressobj(), True
            packed = packed or self._file.read(_PACKED)
            if not packed:
                if self._untouched:
                    return 0
                raise EOFError("the end of the compressed stream is missing")
            self._untouched = False
            try:
                self._ready = memoryview(self._frame.decompress(packed))
            except self._library.ZstdError as problem:
                raise EOFError(str(problem)) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
