"""The process in which a learner's file runs, seen from the grader: messages, output, and limits on both."""

import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from regard.child import python
from regard.course.catalogue import ExerciseEntry
from regard.course.course_folder import spare_place
from regard.course.descendants import MARK, end_all, family_of, resident_bytes
from regard.course.wire import MOST_BYTES, Corrupt, Reader
from regard.text.input_error import InputError

LOADING_SECONDS = 90.0
"""Importing NumPy or torch from a cold disk; the learner's own time starts afterwards."""
MOST_OUTPUT_BYTES = 2**20
MOST_PROCESSES = 32
MOST_RESIDENT_BYTES = 2 * 10**9
"""Memory that a learner's process and its children may use; the largest solution (9) needs an eighth of it."""
MOST_SECONDS = 1800.0
"""For one grading, including the slow work of checks."""
KEPT_OUTPUT = 2000
STACK_SECONDS = 0.5
POLL_SECONDS = 0.05


class Stopped(BaseException):
    """The learner's process exceeded a limit or ended; `reason` says which. No check catches it by mistake."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LearnerChannel:
    """Starts the process at once; `exchange` sends a message there and waits for the answer."""

    def __init__(self, entry: ExerciseEntry) -> None:
        self.entry = entry
        self.mark = secrets.token_hex(8)
        self.trace: IO[bytes] = os.fdopen(_nameless_file(), "r+b")
        self.temporary = tempfile.mkdtemp(prefix="regard-")
        """The only place beside the exercise's folder where the learner's file can write."""
        self.channel, other = socket.socketpair()
        self.process = subprocess.Popen(
            python("regard.course.learner_process", str(other.fileno()), str(self.trace.fileno()), entry.needs),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(other.fileno(), self.trace.fileno()),
            start_new_session=True,
            env={**_environment(self.mark), "TMPDIR": self.temporary},
        )
        other.close()
        self.channel.setblocking(False)
        self.received = bytearray()
        self.output = bytearray()
        self.output_bytes = 0
        self.ready = False
        self.used = 0.0
        """Seconds for which the learner's code has run."""
        self.started = time.monotonic()
        self.counted = 0.0
        self.interrupted: Callable[[], bool] = lambda: False

    def wait_until_ready(self, seconds: float | None = None) -> None:
        """Until the process has loaded what the exercise needs; raises Stopped if that takes longer."""
        limit = LOADING_SECONDS if seconds is None else seconds
        if not self.ready:
            self._receive(lambda: "loading" if time.monotonic() > self.started + limit else None)
            self.ready = True

    def exchange(self, message: bytes) -> Reader:
        """Send a message to the learner's process and wait for its answer; raises Stopped at a limit."""
        began = time.monotonic()

        def late() -> str | None:
            now = time.monotonic()
            if self.used + now - began > self.entry.seconds:
                return "time"
            return "all time" if now > self.started + MOST_SECONDS else None

        try:
            self._send(message, late)
            return self._receive(late)
        finally:
            self.used += time.monotonic() - began

    def _send(self, message: bytes, late: Callable[[], str | None]) -> None:
        left = memoryview(message)
        while left:
            try:
                left = left[self.channel.send(left) :]
            except BlockingIOError:
                select.select([], [self.channel], [], POLL_SECONDS)
                self._check_limits(late)
            except (BrokenPipeError, ConnectionError):
                raise Stopped("ended") from None

    def _receive(self, late: Callable[[], str | None]) -> Reader:
        """The next whole message."""
        length, line = -1, bytearray()
        reader: Reader | None = None
        while True:
            if length < 0 and b"\n" in self.received:
                line, _, self.received = self.received.partition(b"\n")
                if not line.isdigit() or len(line) > 9 or int(line) > MOST_BYTES:
                    raise Corrupt("no length")
                length = int(line)
            elif length < 0 and len(self.received) > 9:
                raise Corrupt("no length")
            if reader is None and 0 <= length <= len(self.received):
                reader = Reader(bytes(self.received[:length]), objects=False)
                del self.received[:length]
            if reader is not None and sum(reader.sizes) <= len(self.received):
                reader.take(bytes(self.received[: sum(reader.sizes)]))
                del self.received[: sum(reader.sizes)]
                return reader
            self._listen(late)

    def _listen(self, late: Callable[[], str | None]) -> None:
        """Collect what comes next: a part of a message, or output."""
        assert self.process.stdout is not None
        ended = self.process.poll() is not None
        streams: list[Any] = [self.channel, *([] if self.process.stdout.closed else [self.process.stdout])]
        ready, _, _ = select.select(streams, [], [], 0 if ended else POLL_SECONDS)
        if self.process.stdout in ready:
            self._print(os.read(self.process.stdout.fileno(), 65536))
        if self.channel in ready:
            try:
                data = self.channel.recv(2**20)
            except ConnectionError:
                data = b""
            if not data:
                self._await_end()
                raise Stopped("ended")
            self.received += data
        elif ended:
            raise Stopped("ended")
        self._check_limits(late)

    def _await_end(self) -> None:
        """The channel is closed: the process is ending, or the learner's file closed every descriptor."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2.0)

    def _check_limits(self, late: Callable[[], str | None]) -> None:
        if self.output_bytes > MOST_OUTPUT_BYTES:
            raise Stopped("output")
        now = time.monotonic()
        if now - self.counted < POLL_SECONDS:
            return
        self.counted = now
        if self.interrupted():
            raise Stopped("interrupted")
        family = family_of(self.process.pid)
        if len(family) > MOST_PROCESSES:
            raise Stopped("processes")
        if resident_bytes(family) > MOST_RESIDENT_BYTES:
            raise Stopped("memory")
        reason = late()
        if reason is not None:
            raise Stopped(reason)

    def _print(self, data: bytes) -> None:
        self.output_bytes += len(data)
        self.output += data[: max(0, 4 * KEPT_OUTPUT - len(self.output))]
        if not data:
            assert self.process.stdout is not None
            self.process.stdout.close()

    def drain(self) -> None:
        """The output of the learner's file that has not been read yet."""
        stream = self.process.stdout
        assert stream is not None
        while not stream.closed and select.select([stream], [], [], 0)[0] and self.output_bytes <= MOST_OUTPUT_BYTES:
            self._print(os.read(stream.fileno(), 65536))

    def end(self, ours: Collection[int] | None = None) -> int:
        """End the process and whatever it started; how many of those outlived it."""
        if self.channel.fileno() < 0:
            return 0
        outlived = end_all(self.process.pid, self.mark, ours)
        self.process.wait()
        self.channel.close()
        assert self.process.stdout is not None
        self.process.stdout.close()
        shutil.rmtree(self.temporary, ignore_errors=True)
        return outlived

    def resident_bytes(self) -> int:
        """Memory that the process and its children use now."""
        return resident_bytes(family_of(self.process.pid))

    def stack(self) -> str:
        """Where the process is now: its handler of SIGUSR1 writes the stack (faulthandler); empty if it does not."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + STACK_SECONDS
        text = ""
        while not text.endswith("\n") and time.monotonic() < deadline and self.process.poll() is None:
            time.sleep(0.01)
            self.trace.seek(0)
            text = self.trace.read().decode(errors="replace")
        return text

    def printed(self) -> str:
        """The output of the file, shortened."""
        text = self.output.decode("utf-8", errors="replace")
        return text if len(text) <= KEPT_OUTPUT else text[:KEPT_OUTPUT] + "\n…"


def _nameless_file() -> int:
    handle, name = tempfile.mkstemp(prefix="regard-")
    os.unlink(name)
    return handle


def _environment(mark: str) -> dict[str, str]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return {
        **threads,
        **os.environ,
        **_matplotlib_home(),
        MARK: mark,
        "MPLBACKEND": "Agg",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
    }


def _matplotlib_home() -> dict[str, str]:
    """Where matplotlib keeps its list of fonts: in a home that cannot be written it would complain at each grading."""
    try:
        usual = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        there = next(place for place in (usual, *usual.parents) if place.exists())
        if "MPLCONFIGDIR" in os.environ or os.access(there, os.W_OK):
            return {}
        place = spare_place() / "matplotlib"
        place.mkdir(exist_ok=True)  # the learner's process may write into it, but not make it
        return {"MPLCONFIGDIR": str(place)}
    except (OSError, RuntimeError, InputError):  # RuntimeError: there is no home at all
        return {}
