"""Grade a file whose code runs in a process of its own, with limits: there is a verdict whatever the file does."""

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from regard.course.attempt import Unready, check_failed_message, parameters_of, read_source
from regard.course.catalogue import ExerciseEntry
from regard.course.descendants import adopting
from regard.course.grade import grade, unready
from regard.course.learner_channel import (
    LOADING_SECONDS,
    MOST_PROCESSES,
    MOST_RESIDENT_BYTES,
    MOST_SECONDS,
    LearnerChannel,
    Stopped,
)
from regard.course.remote import Remote
from regard.course.verdict import Verdict
from regard.course.waiting import LISTENER, Waiting, ignore_progress
from regard.course.wire import Corrupt


class Grader:
    """Grades one learner's file in a process that starts loading at once, answers the grader's calls and then ends.

    If a Grader is created before the file is saved, torch is loaded by then and the verdict is quick. Only inputs and
    answers cross to that process; references, comparison and verdict stay in this one.
    """

    def __init__(self, entry: ExerciseEntry) -> None:
        self.entry = entry
        self.channel = LearnerChannel(entry)

    def __enter__(self) -> "Grader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def grade(
        self, path: Path, interrupted: Callable[[], bool] = lambda: False, waiting: Waiting = ignore_progress
    ) -> Verdict:
        """The verdict on a file; never raises for what the file does. `interrupted` is polled: True stops it.

        `waiting` receives the progress of slow checks.
        """
        began = self.channel.started = time.monotonic()  # waiting for a save is not loading
        self.channel.interrupted = interrupted
        early: list[Verdict] = []

        def listen(what: str, done: int, total: int) -> None:
            waiting(what, done, total)
            if interrupted():
                raise Stopped("interrupted")

        listening = LISTENER.set(listen)
        with adopting() as ours:
            try:
                verdict = self._graded(path, early)
            except Unready as error:
                verdict = unready(error)
            except (Stopped, Corrupt) as stop:
                verdict = early[-1] if early else self._stopped(stop, path)
            except Exception as error:  # an answer that a check was not prepared for
                verdict = early[-1] if early else Verdict("broken", check_failed_message(error))
            finally:
                LISTENER.reset(listening)
            self.channel.drain()
            outlived = self.channel.end(ours)
        notes = verdict.notes
        if outlived == 1:
            notes = (*notes, "Your file left 1 process running; I ended it.")
        if outlived > 1:
            notes = (*notes, f"Your file left {outlived} processes running; I ended them.")
        return verdict.with_(printed=self.channel.printed(), notes=notes, seconds=time.monotonic() - began)

    def _graded(self, path: Path, early: list[Verdict]) -> Verdict:
        source = read_source(path)
        exercise = self.entry.load()
        self.channel.wait_until_ready()
        remote = Remote(self.channel)
        reader, _ = remote.ask(
            "load",
            path=str(_unlinked(path)),
            source=source,
            needs=self.entry.needs,
            hidden=str(self.entry.home.parent),
            course="" if self.entry.ours else str(self.entry.home.parent),
            parameters=parameters_of({name: exercise.reference[name] for name in exercise.functions}),
        )
        found = reader.value("lines")
        lines = {name: int(found.get(name, 0)) for name in exercise.functions}
        return grade(exercise, remote.attempt(_unlinked(path), lines), tell=early.append)

    @property
    def alive(self) -> bool:
        return self.channel.process.poll() is None

    def close(self) -> None:
        """End the process if it still runs; used or not."""
        self.channel.end()
        self.channel.trace.close()

    def _stopped(self, stop: BaseException, path: Path) -> Verdict:
        if isinstance(stop, Corrupt):
            return Verdict(
                "stopped", "Your file wrote into the channel between itself and the grader, so I stopped it."
            )
        assert isinstance(stop, Stopped)
        if stop.reason in ("time", "memory"):
            used = self.channel.resident_bytes()
            line = self._current_line(path)
            headline = f"Your code was still running after {self.entry.seconds:g} s, so I stopped it. An endless loop?"
            if stop.reason == "memory" or used > MOST_RESIDENT_BYTES / 2:  # a busy machine allocates slowly
                limit = f"{used / 1e9:.1f} GB of memory (the limit is {MOST_RESIDENT_BYTES / 1e9:g} GB)"
                headline = (
                    f"Your code used {limit}, so I stopped it. Does a list or an array grow without end, or is one far "
                    "larger than the inputs?"
                )
            return Verdict("stopped", headline, (f"it was at {line}",) if line else ())
        headlines = {
            "interrupted": "Stopped before there was a verdict.",
            "all time": f"Your file was still at work after {MOST_SECONDS:g} s, so I stopped it.",
            "output": "Your file printed more than a megabyte, so I stopped it. Take the print() out.",
            "processes": f"Your file started more than {MOST_PROCESSES} processes, so I stopped it.",
            "loading": f"Loading {self.entry.needs} took more than {LOADING_SECONDS:g} s: this machine is very busy, "
            f"or the installation is broken. `regard doctor` looks into it.",
        }
        if stop.reason in headlines:
            return Verdict("stopped", headlines[stop.reason])
        if not self.channel.ready:
            return Verdict(
                "stopped", "The grader itself could not start: this is not about your file.", (self.channel.printed(),)
            )
        return Verdict("stopped", _crash(self.channel.process.poll()))

    def _current_line(self, path: Path) -> str:
        found = re.search(rf'File "{re.escape(str(_unlinked(path)))}", line (\d+)', self.channel.stack())
        if not found:
            return ""
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        number = int(found.group(1))
        return f"line {number}:  {lines[number - 1].strip() if number <= len(lines) else ''}"


def _unlinked(path: Path) -> Path:
    """The absolute path; a file that is itself a link stays in its folder, the only one that the process may change."""
    return path.parent.resolve() / path.name


def _crash(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = " It may have used too much memory." if name == "SIGKILL" else ""
        return f"Your file crashed Python itself ({name}).{hint}"
    return f"Your file ended the whole process (exit code {code}) before the checks were done. Does it call os._exit()?"
