"""From save to verdict, for every exercise of the course: `python benchmarks/course.py [NUMBER ...]`.

A file is saved into a fresh course folder; the clock stops when the verdict is there. Looking for the change is part of
it, as in watch mode, at its worst: the file is saved just after a look. "first" is a process that starts after the
save (as `regard learn run`), "watching" one that has been loading since the last verdict (as watch mode keeps it).
"wrong" is a named mistake: it is shrunk and diagnosed. Exercises that train (9, 17, 19, 20) take longer.
The exit code is 1 if a limit was passed, or if a verdict was not the one that the file deserves.
"""

import os
import platform
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from regard.course.catalogue import ExerciseEntry, entries, find
from regard.course.session import Session
from regard.course.watch.saved_files import Files
from regard.course.watch.watch_loop import POLL_SECONDS

LIMITS = {"numpy": 1.0, "torch": 5.0}
TRAINS = (9, 17, 19, 20)
LOADED_SECONDS = 60.0


def mistaken(entry: ExerciseEntry) -> tuple[str, str]:
    """A learner's file with the first named mistake in it, and the mistake's name."""
    mistake = next(one for one in entry.load().mistakes if one.edits)
    text = entry.solution
    for old, new in mistake.edits[0]:
        text = text.replace(old, new)
    return text, mistake.name


def save_to_verdict(session: Session, entry: ExerciseEntry, text: str) -> tuple[float, str]:
    """Seconds and the verdict."""
    files = Files(session.folder)
    began = time.perf_counter()
    session.folder.file(entry).write_text(text, encoding="utf-8")
    time.sleep(POLL_SECONDS)
    while files.changed() is None:
        time.sleep(POLL_SECONDS)
    verdict = session.grade(entry)
    return time.perf_counter() - began, verdict.mistake or verdict.status


def loaded(session: Session) -> None:
    """Wait until the spare process has loaded, as it has by the time a person has typed something."""
    session.prepare()
    assert session.spare is not None
    session.spare.channel.wait_until_ready(LOADED_SECONDS)


def measure(session: Session, entry: ExerciseEntry) -> list[tuple[str, float, str, str]]:
    """For each way: its name, seconds, the verdict, and the verdict that the file deserves."""
    session.choose(entry)
    session.close()
    wrong, name = mistaken(entry)
    rows = [("first", *save_to_verdict(session, entry, entry.solution), "passed")]
    loaded(session)
    rows.append(("watching", *save_to_verdict(session, entry, entry.solution + "\n"), "passed"))
    loaded(session)
    rows.append(("watching, wrong", *save_to_verdict(session, entry, wrong), name))
    session.close()
    return rows


def main() -> int:
    bad = 0
    chosen = [find(number) for number in sys.argv[1:]] or list(entries())
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{date.today()}, {machine}, Python {platform.python_version()}")
    print(f"{'exercise':<34} {'needs':<6} {'how':<16} {'seconds':>7}  {'limit':>5}  verdict")
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder) / "course")
        for entry in chosen:
            limit = None if entry.number in TRAINS else LIMITS[entry.needs]
            for how, seconds, verdict, deserved in measure(session, entry):
                late = " over the limit" if limit is not None and seconds > limit else ""
                wrong = "" if verdict == deserved else f", wanted {deserved}"
                bad += bool(late or wrong)
                shown = "-" if limit is None else f"{limit:g}"
                row = f"{entry.name:<34} {entry.needs:<6} {how:<16} {seconds:>7.2f}  {shown:>5}  {verdict}{wrong}{late}"
                print(row, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
