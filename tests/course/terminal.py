"""A real terminal (a pty) with a program in it, as a person sees it: the last picture, without the escape codes."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

from processes import end, launch

CLEAR = "\x1b[H\x1b[2J"


class Terminal:
    """Start a command in a pty; press keys, wait for words on the screen, resize."""

    bite = 65536
    """How many bytes are read at once, at most: what comes of a page is up to the system."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.master, slave = pty.openpty()
        self.set_size(slave, 40, 100)
        self.process = launch(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            environment={"TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **(environment or {})},
            # Ours is the terminal that sends Ctrl-C, window sizes and hang-ups to the program.
            preexec=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.output = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # a sign may come in two pieces

    @staticmethod
    def set_size(descriptor: int, rows: int, columns: int) -> None:
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows: int, columns: int) -> None:
        self.set_size(self.master, rows, columns)

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def picture(self) -> str:
        """What stands on the screen now."""
        last = self.output.rsplit(CLEAR, 1)[-1].replace("\r\n", "\n")
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", last)

    def wait_for(self, *words: str, seconds: float = 40, gone: str = "grading …", end: str = "") -> str:
        """The picture, once all the words are on it and it ends as it should: a terminal brings it in pieces."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.05)
            picture = self.picture()
            if all(word in picture for word in words) and gone not in picture and picture.endswith(end):
                return picture
            if self.process.poll() is not None:
                self._read(0.2)
                break
        raise AssertionError(f"{words} did not come; the screen was:\n{self.picture()}")

    def wait_for_end(self, seconds: float = 10) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        return self.process.wait(timeout=0.1)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        end(self.process)
        self.process.wait(timeout=10)
        if self.master >= 0:
            os.close(self.master)

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                self.output += self.decoder.decode(os.read(self.master, self.bite))
            except OSError:  # the other end is closed
                time.sleep(seconds)


def learn(folder: Path, *arguments: str, **environment: str) -> Terminal:
    """`regard learn` in a pty."""
    return Terminal([sys.executable, "-m", "regard", "learn", *arguments], folder, environment)
