"""Grade a class: many learners' folders, one process for each file, a table or JSON at the end."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.course.catalogue import Entry, entries
from regard.course.process import Grader
from regard.course.report import MARKS
from regard.course.verdict import Verdict
from regard.text.errors import InputError

DEPTH = 3
"""How far below a learner's folder the exercises may lie: alice/homework/regard-course/01_softmax."""


@dataclass(frozen=True)
class Graded:
    """One learner's verdicts, by exercise."""

    learner: str
    folder: Path
    verdicts: dict[str, Verdict]

    @property
    def points(self) -> int:
        return sum(entry.points for entry in entries() if self.verdicts[entry.name].passed)

    def json(self) -> dict[str, Any]:
        return {
            "learner": self.learner,
            "folder": str(self.folder),
            "points": self.points,
            "of": most_points(),
            "exercises": {name: verdict.json() for name, verdict in self.verdicts.items()},
        }


def most_points() -> int:
    """What a learner gets who passes everything."""
    return sum(entry.points for entry in entries())


def learners(directory: Path) -> dict[str, Path]:
    """The course folders in a directory by learner's name; the directory itself may be one."""
    if not directory.is_dir():
        raise InputError(f"{directory} is not a folder; --grade wants one that holds learners' folders")
    if _holds_exercises(directory):
        return {directory.resolve().name: directory}
    found: dict[str, Path] = {}
    for child in sorted(path for path in directory.iterdir() if path.is_dir()):
        course = next(_course_folders(child, DEPTH), None)
        if course is not None:
            found[child.name] = course
    if not found:
        example = f"{directory}/alice/{entries()[0].name}/exercise.py"
        raise InputError(f"no learner's folder was found in {directory}; wanted for instance {example}")
    return found


def grade_class(directory: Path, tell: Callable[[str, Entry, Verdict], None] = lambda *_: None) -> list[Graded]:
    """Every exercise of every learner; `tell` hears each verdict. While one file is graded the next process loads."""
    folders = learners(directory)
    jobs = [(name, entry) for name in folders for entry in entries()]
    verdicts: dict[str, dict[str, Verdict]] = {name: {} for name in folders}
    ahead: Grader | None = None
    try:
        for index, (name, entry) in enumerate(jobs):
            path = folders[name] / entry.name / "exercise.py"
            verdict = _known(entry, path)
            if verdict is None:
                grader, ahead = ahead if ahead is not None and ahead.entry == entry else Grader(entry), None
                ahead = _next_grader(folders, jobs[index + 1 :])
                with grader:
                    verdict = grader.grade(path)
            verdicts[name][entry.name] = verdict
            tell(name, entry, verdict)
    finally:
        if ahead is not None:
            ahead.close()
    return [Graded(name, folders[name], verdicts[name]) for name in folders]


def table_lines(graded: list[Graded]) -> list[str]:
    """A row for each learner, a column for each exercise, and which mistakes were made most."""
    width = max(len("learner"), *(len(one.learner) for one in graded))
    head = " ".join(f"{entry.number:>2}" for entry in entries())
    lines = [f"{'learner':<{width}}  {head}  points"]
    for one in graded:
        marks = " ".join(f" {MARKS.get(one.verdicts[entry.name].status, '!')}" for entry in entries())
        lines.append(f"{one.learner:<{width}}  {marks}  {one.points:>3} of {most_points()}")
    lines += ["", "✓ passed  ≈ unstable  ✗ wrong  ! error, hung or crashed  · not begun  ? no file"]
    mistakes = Counter(
        f"{entry.number} {entry.title}: {mistake}"
        for one in graded
        for entry in entries()
        if (mistake := one.verdicts[entry.name].mistake)
    )
    if mistakes:
        lines += ["", "mistakes, the most frequent first:"]
        lines += [f"{count:>4} × {name}" for name, count in mistakes.most_common(10)]
    return lines


def _known(entry: Entry, path: Path) -> Verdict | None:
    """Verdicts that need no process: no file, or the starter as it was."""
    if not path.is_file():
        return Verdict("missing", f"{entry.name}/exercise.py is not there.")
    try:
        untouched = path.read_bytes() == entry.starter.encode()
    except OSError as error:
        return Verdict("missing", f"{entry.name}/exercise.py cannot be read: {error.strerror}.")
    return Verdict("unfinished", "The starter, untouched.") if untouched else None


def _next_grader(folders: dict[str, Path], jobs: list[tuple[str, Entry]]) -> Grader | None:
    for name, entry in jobs:
        if _known(entry, folders[name] / entry.name / "exercise.py") is None:
            return Grader(entry)
    return None


def _course_folders(folder: Path, depth: int) -> Iterator[Path]:
    if _holds_exercises(folder):
        yield folder
    elif depth > 1:
        for child in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
            yield from _course_folders(child, depth - 1)


def _holds_exercises(folder: Path) -> bool:
    return any((folder / entry.name).is_dir() for entry in entries())
