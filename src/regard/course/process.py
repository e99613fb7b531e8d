"""Grade a file in a process of its own, with limits: whatever the file does, a verdict comes back."""

import json
import os
import re
import secrets
import select
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from regard.child import python
from regard.course.catalogue import Entry
from regard.course.course_folder import spare_place
from regard.course.descendants import MARK, adopting, end_all, family_of
from regard.course.verdict import Verdict, verdict_from_json
from regard.course.waiting import Waiting, nobody
from regard.reading_files import parse_json
from regard.text.input_error import InputError

LOADING_SECONDS = 90.0
"""Importing NumPy or torch from a cold disk; the learner's own time starts afterwards."""
MOST_OUTPUT_BYTES = 2**20
MOST_PROCESSES = 32
MOST_SECONDS = 1800.0
"""For everything together, also what a check is busy with."""
KEPT_OUTPUT = 2000
POLL_SECONDS = 0.05


@dataclass
class _Heard:
    """What has come from the process so far."""

    phase: str = "starting"
    verdict: Verdict | None = None
    events: bytes = b""
    output: bytearray = field(default_factory=bytearray)
    output_bytes: int = 0
    busy: tuple[str, int, int] | None = None
    """News about something slow that the check does itself."""


class Grader:
    """A grading process for one exercise: starts loading at once, grades one file when asked, then is gone.

    Made before a file is saved it makes the verdict quick: torch is loaded by then.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.mark = secrets.token_hex(8)
        self.heard = _Heard()
        self.trace: IO[bytes] = os.fdopen(_nameless_file(), "r+b")
        events, events_child = os.pipe()
        self.events = events
        self.process = subprocess.Popen(
            python("regard.course.grading_child", entry.home.name, str(events_child), str(self.trace.fileno())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(events_child, self.trace.fileno()),
            start_new_session=True,
            env=_environment(self.mark),
        )
        os.close(events_child)
        self.started = time.monotonic()

    def __enter__(self) -> "Grader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def grade(self, path: Path, interrupted: Callable[[], bool] = lambda: False, waiting: Waiting = nobody) -> Verdict:
        """The verdict on a file; never raises for what the file does. `interrupted` is asked often: True stops it.

        `waiting` hears what a check is busy with.
        """
        began = self.started = time.monotonic()  # a spare may have waited long; that was not loading
        job = {"file": str(path.resolve()), "needs": self.entry.needs, "seconds": self.entry.seconds}
        assert self.process.stdin is not None
        with adopting() as ours:
            with suppress(BrokenPipeError):  # it died while loading: _listen will see
                self.process.stdin.write(json.dumps(job).encode() + b"\n")
                self.process.stdin.flush()
            reason = self._listen(interrupted, waiting)
            outlived = self._end(ours)
        verdict = self._verdict(reason, path)
        notes = verdict.notes
        if outlived == 1:
            notes = (*notes, "Your file left 1 process running; I ended it.")
        if outlived > 1:
            notes = (*notes, f"Your file left {outlived} processes running; I ended them.")
        return verdict.with_(printed=self._printed(), notes=notes, seconds=time.monotonic() - began)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_until_ready(self, seconds: float) -> bool:
        """Whether the process has loaded within this time."""
        deadline = time.monotonic() + seconds
        while self.heard.phase != "ready" and self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self.events], [], [], POLL_SECONDS)[0]:
                self._hear("events", os.read(self.events, 65536))
        return self.heard.phase == "ready"

    def close(self) -> None:
        """End the process if it still runs; used or not."""
        self._end()
        self.trace.close()

    def _listen(self, interrupted: Callable[[], bool], waiting: Waiting) -> str:
        """Collect events and output until the process ends ("ended") or a limit is passed (which one)."""
        assert self.process.stdout is not None
        deadline: float | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(self.events, selectors.EVENT_READ, "events")
            selector.register(self.process.stdout, selectors.EVENT_READ, "output")
            while True:
                ended = self.process.poll() is not None
                for key, _ in selector.select(0 if ended else POLL_SECONDS):
                    data = os.read(key.fd, 65536)
                    if not data:
                        selector.unregister(key.fd)
                    self._hear(key.data, data)
                if ended:
                    return "ended"
                if interrupted():
                    return "interrupted"
                if self.heard.output_bytes > MOST_OUTPUT_BYTES:
                    return "output"
                if len(family_of(self.process.pid)) > MOST_PROCESSES:
                    return "processes"
                now = time.monotonic()
                if self.heard.busy is not None:
                    waiting(*self.heard.busy)
                    deadline, self.heard.busy = None, None
                if self.heard.phase in ("importing", "checking") and deadline is None:
                    deadline = now + self.entry.seconds
                if deadline is not None and now > deadline:
                    return "time"
                if deadline is None and now > self.started + LOADING_SECONDS:
                    return "loading"
                if now > self.started + MOST_SECONDS:
                    return "all time"

    def _hear(self, channel: str, data: bytes) -> None:
        if channel == "output":
            self.heard.output_bytes += len(data)
            self.heard.output += data[: max(0, 4 * KEPT_OUTPUT - len(self.heard.output))]
            return
        *lines, self.heard.events = (self.heard.events + data).split(b"\n")
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):  # the learner's file may write anywhere, also here
                self._heard_line(line)

    def _heard_line(self, line: bytes) -> None:
        event = parse_json(line)
        if "phase" in event:
            self.heard.phase = str(event["phase"])
        elif "busy" in event:
            what, done, total = event["busy"]
            self.heard.busy = (str(what), int(done), int(total))
        else:
            self.heard.verdict = verdict_from_json(json.dumps(event["verdict"]))

    def _end(self, ours: Collection[int] | None = None) -> int:
        if self.events < 0:
            return 0
        outlived = end_all(self.process.pid, self.mark, ours)
        self.process.wait()
        os.close(self.events)
        self.events = -1
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        return outlived

    def _verdict(self, reason: str, path: Path) -> Verdict:
        if self.heard.verdict is not None:
            return self.heard.verdict
        if reason == "interrupted":
            return Verdict("stopped", "Stopped before there was a verdict.")
        if reason == "time":
            line = self._hanging_line(path)
            return Verdict(
                "stopped",
                f"Your code was still running after {self.entry.seconds:g} s, so I stopped it. An endless loop?",
                (f"it was at {line}",) if line else (),
            )
        if reason == "all time":
            return Verdict("stopped", f"Your file was still at work after {MOST_SECONDS:g} s, so I stopped it.")
        if reason == "output":
            return Verdict("stopped", "Your file printed more than a megabyte, so I stopped it. Take the print() out.")
        if reason == "processes":
            return Verdict("stopped", f"Your file started more than {MOST_PROCESSES} processes, so I stopped it.")
        if reason == "loading":
            return Verdict(
                "stopped",
                f"Loading {self.entry.needs} took more than {LOADING_SECONDS:g} s: this machine is very busy, or the "
                f"installation is broken. `regard doctor` looks into it.",
            )
        if self.heard.phase in ("starting", "loading"):
            return Verdict(
                "stopped", "The grader itself could not start: this is not about your file.", (self._printed(),)
            )
        return Verdict("stopped", _crash(self.process.returncode))

    def _hanging_line(self, path: Path) -> str:
        self.trace.seek(0)
        found = re.search(
            rf'File "{re.escape(str(path.resolve()))}", line (\d+)', self.trace.read().decode(errors="replace")
        )
        if not found:
            return ""
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        number = int(found.group(1))
        return f"line {number}:  {lines[number - 1].strip() if number <= len(lines) else ''}"

    def _printed(self) -> str:
        text = self.heard.output.decode("utf-8", errors="replace")
        return text if len(text) <= KEPT_OUTPUT else text[:KEPT_OUTPUT] + "\n…"


def grade_file(entry: Entry, path: Path) -> Verdict:
    """One file, one fresh process."""
    if not path.exists():
        return Verdict(
            "missing", f"{path.name} is not there. `regard learn reset {entry.number}` puts the starter back."
        )
    with Grader(entry) as grader:
        return grader.grade(path)


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
        return {"MPLCONFIGDIR": str(spare_place() / "matplotlib")}
    except (OSError, RuntimeError, InputError):  # RuntimeError: there is no home at all
        return {}


def _crash(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = " It may have used too much memory." if name == "SIGKILL" else ""
        return f"Your file crashed Python itself ({name}).{hint}"
    return f"Your file ended the whole process (exit code {code}) before the checks were done. Does it call os._exit()?"
