"""Grade a class: many learners' folders, one process for each file, a table or JSON at the end."""

import os
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.course.attempt import MOST_SOURCE_BYTES, too_large
from regard.course.catalogue import ExerciseEntry, entries
from regard.course.confinement import hide_memory
from regard.course.process import Grader
from regard.course.verdict import Verdict
from regard.course.verdict_text import MARKS, visible
from regard.course.waiting import Waiting, ignore_progress
from regard.text.input_error import InputError

DEPTH = 3
"""How far below a learner's folder the exercises may lie: alice/homework/regard-course/01_softmax."""
MOST_TROUBLES = 40


@dataclass(frozen=True)
class Graded:
    """One learner's verdicts, by exercise."""

    learner: str
    folder: Path
    verdicts: dict[str, Verdict]

    @property
    def points(self) -> int:
        return sum(entry.points for entry in self.entries if self.verdicts[entry.name].passed)

    @property
    def entries(self) -> list[ExerciseEntry]:
        """The exercises that were graded."""
        return [entry for entry in entries() if entry.name in self.verdicts]

    @property
    def credit(self) -> float:
        """Points with partial credit: half of them for an answer that is right for ordinary numbers only."""
        unstable = sum(entry.points for entry in self.entries if self.verdicts[entry.name].status == "unstable")
        return self.points + unstable / 2

    @property
    def most(self) -> int:
        """The points of a learner who passes everything that was graded."""
        return sum(entry.points for entry in self.entries)

    def json(self) -> dict[str, Any]:
        return {
            "learner": self.learner,
            "folder": str(self.folder),
            "points": self.points,
            "credit": self.credit,
            "of": self.most,
            "exercises": {name: verdict.json() for name, verdict in self.verdicts.items()},
        }


def learners(directory: Path) -> dict[str, Path]:
    """The course folders in a directory by learner's name; the directory itself may be one."""
    if not directory.is_dir():
        raise InputError(f"{directory} is not a folder; --grade wants one that holds learners' folders")
    if _holds_exercises(directory):
        return {directory.resolve().name: directory}
    courses = {child.name: next(_course_folders(child, DEPTH), None) for child in _folders_in(directory)}
    found = {name: course for name, course in courses.items() if course is not None}
    if not found:
        example = f"{directory}/alice/{entries()[0].name}/exercise.py"
        raise InputError(f"no learner's folder was found in {directory}; wanted for instance {example}")
    return found


def folders_without_exercises(directory: Path) -> list[str]:
    """Folders of the directory in which no exercise was found: a learner may have used other names."""
    if _holds_exercises(directory):
        return []
    return [child.name for child in _folders_in(directory) if next(_course_folders(child, DEPTH), None) is None]


def grade_class(
    directory: Path,
    tell: Callable[[str, ExerciseEntry, Verdict], None] = lambda *_: None,
    waiting: Waiting = ignore_progress,
    only: ExerciseEntry | None = None,
) -> list[Graded]:
    """Every exercise of every learner, or one; `tell` receives each verdict, `waiting` the progress of slow checks.

    While one file is graded the next process loads.
    """
    folders = learners(directory)
    jobs = [(name, entry) for name in folders for entry in (entries() if only is None else [only])]
    verdicts: dict[str, dict[str, Verdict]] = {name: {} for name in folders}
    ahead: Grader | None = None
    hide_memory()
    package = _package()
    try:
        for index, (name, entry) in enumerate(jobs):
            path = folders[name] / entry.name / "exercise.py"
            verdict = _known(entry, path)
            if verdict is None:
                grader, ahead = ahead if ahead is not None and ahead.entry == entry else Grader(entry), None
                ahead = _next_grader(folders, jobs[index + 1 :])
                with grader:
                    verdict = grader.grade(path, waiting=waiting)
                if _package() != package:
                    verdict = Verdict("stopped", f"{name}'s file changed the files of regard itself. Install it again.")
            verdicts[name][entry.name] = verdict
            tell(name, entry, verdict)
    finally:
        if ahead is not None:
            ahead.close()
    return [Graded(name, folders[name], verdicts[name]) for name in folders]


def table_lines(graded: list[Graded]) -> list[str]:
    """A row for each learner, a column for each exercise, and which mistakes were made most."""
    width = max(len("learner"), *(len(visible(one.learner)) for one in graded))
    shown = graded[0].entries
    head = " ".join(f"{entry.number:>2}" for entry in shown)
    lines = [f"{'learner':<{width}}  {head}  points"]
    for one in graded:
        marks = " ".join(f" {MARKS.get(one.verdicts[entry.name].status, '!')}" for entry in shown)
        lines.append(f"{visible(one.learner):<{width}}  {marks}  {one.points:>3} of {one.most}")
    lines += ["", "✓ passed  ≈ unstable  ✗ wrong  ! error, hung or crashed  · not begun  ? no file"]
    mistakes = Counter(
        f"{entry.number} {entry.title}: {mistake}"
        for one in graded
        for entry in shown
        if (mistake := one.verdicts[entry.name].mistake)
    )
    if mistakes:
        lines += ["", "mistakes, the most frequent first:"]
        lines += [f"{count:>4} × {name}" for name, count in mistakes.most_common(10)]
    troubles = [line for one in graded for line in _troubles(one)]
    if troubles:
        lines += ["", "errors, hung and crashed:", *troubles[:MOST_TROUBLES]]
    if len(troubles) > MOST_TROUBLES:
        lines.append(f"  … and {len(troubles) - MOST_TROUBLES} more; --json has them all")
    return lines


def _troubles(one: Graded) -> Iterator[str]:
    """The reason for each mark `!`, and the processes that a passing file left running."""
    for entry in one.entries:
        verdict = one.verdicts[entry.name]
        if verdict.status in ("broken", "stopped") or (verdict.passed and verdict.notes):
            reason = verdict.headline if not verdict.passed else verdict.notes[0]
            line = visible(f"{one.learner.strip()}, {entry.number}: {reason}")
            yield "  " + textwrap.shorten(line, 160, placeholder=" …")


def _known(entry: ExerciseEntry, path: Path) -> Verdict | None:
    """Verdicts that need no process: no file, or the starter as it was."""
    if not os.path.isfile(path):
        return Verdict("missing", f"{entry.name}/exercise.py is not there.")
    try:
        size = path.stat().st_size
        if size > MOST_SOURCE_BYTES:
            return Verdict("broken", too_large(f"{entry.name}/exercise.py", size))
        untouched = path.read_bytes() == entry.starter.encode()
    except OSError as error:
        return Verdict("missing", f"{entry.name}/exercise.py cannot be read: {error.strerror}.")
    return Verdict("unfinished", "The starter, untouched.") if untouched else None


def _package() -> dict[Path, tuple[int, int]]:
    """When the course's own files were last changed, and their sizes; without caches."""
    home = Path(__file__).parent
    files = [path for path in home.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def _next_grader(folders: dict[str, Path], jobs: list[tuple[str, ExerciseEntry]]) -> Grader | None:
    for name, entry in jobs:
        if _known(entry, folders[name] / entry.name / "exercise.py") is None:
            return Grader(entry)
    return None


def _course_folders(folder: Path, depth: int) -> Iterator[Path]:
    if _holds_exercises(folder):
        yield folder
    elif depth > 1:
        for child in _folders_in(folder):
            yield from _course_folders(child, depth - 1)


def _folders_in(folder: Path) -> list[Path]:
    """Sorted, without hidden ones; none if the directory cannot be read."""
    try:
        return sorted(path for path in folder.iterdir() if os.path.isdir(path) and not path.name.startswith("."))
    except OSError:
        return []


def _holds_exercises(folder: Path) -> bool:
    return any(os.path.isdir(folder / entry.name) for entry in entries())
