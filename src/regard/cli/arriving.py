"""Reads the lines of a pipe as they arrive, so that `translate` answers a program that keeps the pipe open."""

import os
import select
from collections.abc import Iterator
from itertools import islice

from regard.data.lines import decode_lines

READ = 65536
"""Bytes of one read: what a Linux pipe holds."""


class ArrivingLines:
    """Batches of the lines that have arrived completely; waits only if there is none."""

    def __init__(self, file: int, name: str) -> None:
        self._file, self._buffer, self._ended = file, bytearray(), False
        self._lines = decode_lines(self, name)

    def batches(self, most: int) -> Iterator[list[str]]:
        while batch := list(islice(self._lines, 1)):
            while len(batch) < most and self._arrived():
                batch += islice(self._lines, 1)
            yield batch

    def readline(self, size: int = -1, /) -> bytes:
        """Reads a line as binary files do: waits for its end, or for `size` bytes of it."""
        while not self._ended and b"\n" not in self._buffer and not 0 <= size <= len(self._buffer):
            self._read()
        end = self._buffer.find(b"\n") + 1 or len(self._buffer)
        end = end if size < 0 else min(end, size)
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line

    def _arrived(self) -> bool:
        """Whether a whole line can be read without waiting."""
        while b"\n" not in self._buffer and not self._ended and select.select([self._file], [], [], 0)[0]:
            self._read()
        return b"\n" in self._buffer or (self._ended and bool(self._buffer))

    def _read(self) -> None:
        part = os.read(self._file, READ)
        self._ended = not part
        self._buffer += part
