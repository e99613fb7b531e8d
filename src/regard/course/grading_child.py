"""The grading process: loads what an exercise needs, waits for a file on standard input, sends verdicts back.

    python -P -m regard.course.grading_child e03_masking EVENTS TRACE

EVENTS is a descriptor for JSON lines: {"phase": ...} while it goes on, {"busy": ...} while a check does something slow
of its own, {"verdict": ...} when there is one; the last verdict counts. TRACE is a descriptor where the stack is
written if the time is nearly up.
"""

import ctypes
import faulthandler
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
MOST_FILE_BYTES = 2**30
MOST_MEMORY_BYTES = {"numpy": 8 * 2**30}
"""Of address space; torch alone reserves more than it uses, so torch exercises have no such limit."""


def main() -> None:
    """Load, say so, wait for the job, grade."""
    name, events, trace = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    owner = os.getpid()
    _limit()

    def send(**event: Any) -> None:
        if os.getpid() == owner:  # a forked copy of the learner's file has no say
            os.write(events, b"\n" + json.dumps(event).encode() + b"\n")  # a line of its own, whoever else wrote here

    send(phase="loading")
    exercise = import_module(f"regard.course.exercises.{name}.check").EXERCISE
    from regard.course.attempt import Unready, load_attempt, stumbled
    from regard.course.grade import grade, unready
    from regard.course.verdict import Verdict
    from regard.course.waiting import LISTENER

    send(phase="ready")
    line = sys.stdin.readline()
    if not line:  # a spare that nobody needed
        return
    job = json.loads(line)
    with suppress(OSError):  # the folder may be gone: then so is the file, which is what will be said
        os.chdir(Path(job["file"]).parent)  # files that an experiment writes stay with the exercise
    _close_input()
    needs, seconds = str(job["needs"]), float(job["seconds"])
    if needs in MOST_MEMORY_BYTES:
        _lower(resource.RLIMIT_AS, MOST_MEMORY_BYTES[needs])
    faulthandler.dump_traceback_later(seconds * 0.95, file=trace)

    def busy(what: str, done: int, total: int) -> None:
        faulthandler.dump_traceback_later(seconds * 0.95, file=trace)
        send(busy=(what, done, total))

    LISTENER.set(busy)
    send(phase="importing")
    try:
        attempt = load_attempt(Path(job["file"]), exercise.functions, exercise.reference)
        send(phase="checking")
        verdict = grade(exercise, attempt, tell=lambda early: send(verdict=early.json()))
    except Unready as error:
        verdict = unready(error)
    except BaseException as error:
        verdict = Verdict("broken", stumbled(error))
    faulthandler.cancel_dump_traceback_later()
    with suppress(Exception):  # the learner's file may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    send(verdict=verdict.json())
    os._exit(0)  # threads and exit handlers of the learner's file end here


def _limit() -> None:
    """No core files, no endless files; die with the watcher (Linux)."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, MOST_FILE_BYTES)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _close_input() -> None:
    """The learner's file must not wait for a keyboard."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)


if __name__ == "__main__":
    main()
