"""Defers signals to the end of the current step: the run saves a checkpoint and reports how to resume."""

import signal
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class Interrupt:
    """While active, the first SIGINT, SIGTERM or SIGHUP only sets `requested`; a second SIGINT or SIGTERM acts at once.

    A signal that is ignored stays ignored (`nohup` and a shell's `&` do that). A second SIGHUP does nothing: a closed
    terminal sends two, one through the shell and one from the kernel.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: a handler that Python cannot restore
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore(SIGNALS)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        self._restore((signal.SIGINT, signal.SIGTERM))

    def _restore(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number in self._before:
                signal.signal(number, self._before.pop(number))
