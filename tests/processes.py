"""Starts the programs that tests send signals to: none ignores Ctrl-C, none runs too long, none outlives its test."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

from regard.course.confinement import PR_SET_PDEATHSIG
from regard.course.descendants import family_of

LIMIT = 120.0
"""Seconds that a program may run; then it is killed, which ends every wait for it and for its output."""
_LIBC = ctypes.CDLL(None)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def launch(
    command: Sequence[str | Path],
    *,
    ignore: Sequence[int] = (),
    preexec: Callable[[], object] = lambda: None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> "subprocess.Popen[Any]":
    """A program in a session of its own, with the default action for every signal but those to `ignore`.

    A child inherits ignored signals: under `nohup`, behind a shell's `&` and on some CI systems, a program that was
    started without this never receives the Ctrl-C that a test sends.
    """

    def prepare() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN if number in ignore else signal.SIG_DFL)
        if sys.platform == "linux":  # a test runner that is killed takes its programs with it
            _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        preexec()

    path = os.pathsep.join(folder for folder in sys.path if folder)
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, **(environment or {})}
    variables = {name: value for name, value in variables.items() if value}
    return subprocess.Popen(command, start_new_session=True, preexec_fn=prepare, env=variables, **options)


def end(process: "subprocess.Popen[Any]") -> None:
    """Kill the program, its process group and its descendants."""
    family = family_of(process.pid) if process.poll() is None else set()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in family - {process.pid}:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def started(
    command: Sequence[str | Path], *, seconds: float = LIMIT, **options: Any
) -> "Iterator[subprocess.Popen[Any]]":
    """A launched program for the length of the block; see `launch` for the options."""
    with launch(command, **options) as process:
        watchdog = Timer(seconds, end, [process])
        watchdog.daemon = True
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            end(process)


def completed(
    command: Sequence[str | Path], *, seconds: float = LIMIT, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """What a program that ends by itself wrote, and its exit code."""
    pipe = subprocess.PIPE
    with started(command, seconds=seconds, stdout=pipe, stderr=pipe, text=True, **options) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def wait_until(condition: Callable[[], object], process: "subprocess.Popen[Any]", what: str) -> None:
    """Return once the condition holds; fail where the program ends before, or takes too long."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert process.poll() is None, f"the program ended with code {process.returncode} before {what}"
        assert time.monotonic() < deadline, f"{LIMIT:.0f} seconds were over before {what}"
        time.sleep(0.02)


@contextmanager
def default_signals() -> Iterator[None]:
    """This process handles signals as a program that was started from a terminal does."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
