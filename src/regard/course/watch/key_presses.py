"""Single keys from a terminal, whose mode is restored at the end, or the first letters of lines from a pipe."""

import os
import re
import select
import signal
import sys
import termios
import tty
from types import FrameType, TracebackType
from typing import Any, TextIO

ESCAPES = re.compile(r"\x1b(\[[0-9;]*[A-Za-z~]|O.|.)?")
"""Escape sequences of arrow and function keys, which are ignored."""
END = "q"
"""The key that the end of the input stands for."""


REDRAW = "\x0c"
"""Ctrl-L redraws the screen."""


class Keys:
    """A context manager: while it is active, a terminal passes each key at once, without Enter and echo."""

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = stream or sys.stdin  # which is None where there is no input at all
        self.descriptor = os.open(os.devnull, os.O_RDONLY) if stream is None else stream.fileno()
        self.terminal = os.isatty(self.descriptor)
        self.waiting = ""
        self.ended = False
        self._before: list[Any] = []
        self._continued: Any = None

    def __enter__(self) -> "Keys":
        if self.terminal:
            self._before = termios.tcgetattr(self.descriptor)
            tty.setcbreak(self.descriptor)
            self._continued = signal.signal(signal.SIGCONT, self._go_on)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.terminal:
            signal.signal(signal.SIGCONT, self._continued)
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._before)

    def read(self, seconds: float) -> str | None:
        """The next key; None after `seconds` without one; `q` at the end of the input."""
        if not self.waiting and not self.ended:
            self._listen(seconds)
        if self.waiting:
            key, self.waiting = self.waiting[0], self.waiting[1:]
            return key
        return END if self.ended else None

    def quits(self) -> bool:
        """Whether the key q was pressed during other work; other keys stay in the queue."""
        if self.terminal and not self.ended:
            self._listen(0)
        return self.terminal and (END in self.waiting or self.ended)

    def _listen(self, seconds: float) -> None:
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if ready:
            try:
                self._take(os.read(self.descriptor, 1024))
            except OSError:  # the terminal is gone: a closed window, a broken connection
                self.ended = True

    def _take(self, data: bytes) -> None:
        if not data:
            self.ended = True
            return
        text = data.decode("utf-8", errors="ignore")
        if not self.terminal:
            # A line is a command; a number keeps its digits, and an empty line means: grade again.
            for line in text.splitlines():
                word = line.strip()
                self.waiting += f"{word}\n" if word.isdigit() else word[:1] or "\n"
        else:
            self.waiting += ESCAPES.sub("", text).replace("\x04", END).replace("\r", "\n")

    def _go_on(self, number: int, frame: FrameType | None) -> None:
        """After Ctrl-Z and `fg`: set the terminal's mode, which the shell has changed, and redraw."""
        self.waiting += REDRAW
        tty.setcbreak(self.descriptor)
