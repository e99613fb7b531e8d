"""The list of exercises, read from their folders without importing them (some of them need torch)."""

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from regard.course.exercise import Exercise
from regard.text.input_error import InputError

HOME = Path(__file__).parent / "exercises"
TIERS = ("nudge", "concept", "shape of the code")
FILES = ("about.toml", "README.md", "exercise.py.txt", "hint.md", "solution.py", "check.py")
"""The files that every exercise's folder must have."""
KEYS: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "needs": str,
    "seconds": (int, float),
    "points": int,
    "story": str,
}


@dataclass(frozen=True)
class ExerciseEntry:
    """One exercise of the course: its texts and the location of its checks."""

    number: int
    name: str
    """The learner's folder: 03_masking."""
    title: str
    needs: str
    """numpy or torch: what the grading process loads before the learner's file."""
    seconds: float
    """How long the learner's code may run, loading not counted."""
    points: int
    home: Path
    story: str = ""
    """The page of the story about it: 03-one-step."""

    @property
    def module(self) -> str:
        """The package of its code; a teacher's own course is on the import path itself."""
        return f"regard.course.exercises.{self.home.name}" if self.ours else self.home.name

    @property
    def ours(self) -> bool:
        """Whether it belongs to the course of this package."""
        return self.home.parent == HOME

    @property
    def starter(self) -> str:
        return (self.home / "exercise.py.txt").read_text(encoding="utf-8")

    @property
    def readme(self) -> str:
        """The learner's page, with a link to its page of the story."""
        text = (self.home / "README.md").read_text(encoding="utf-8")
        if not self.story:
            return text
        number, _, name = self.story.partition("-")
        return f"{text}\n**Story.** Page {int(number)}, *{name.replace('-', ' ')}*: docs/story/{self.story}.md\n"

    @property
    def answers(self) -> str:
        """What "Try this" shows; for learners who have passed."""
        path = self.home / "answers.md"
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @property
    def solution(self) -> str:
        """The whole file, without the comment for our type checker."""
        text = (self.home / "solution.py").read_text(encoding="utf-8")
        return re.sub(r"^# mypy: .*\n\n", "", text, flags=re.MULTILINE)

    @property
    def hints(self) -> tuple[str, ...]:
        """The tiers of hint.md, one for each `## ` heading."""
        text = (self.home / "hint.md").read_text(encoding="utf-8")
        return tuple(part.strip() for part in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:])

    def load(self) -> Exercise:
        """Import the checks; for a torch exercise this imports torch."""
        path = self.home / "check.py"
        try:
            exercise = import_module(f"{self.module}.check").EXERCISE
        except (Exception, SystemExit) as error:  # a teacher's own code may raise anything
            if self.ours:
                raise
            raise InputError(f"{path} cannot be used: {type(error).__name__}: {error}") from error
        if not isinstance(exercise, Exercise):
            raise InputError(f"{path}: EXERCISE is a {type(exercise).__name__}, wanted an Exercise")
        return exercise


class _Course:
    """The folder whose exercises are the course of this process."""

    home = HOME


def use_course(directory: Path) -> None:
    """Replace the exercises by those of a teacher's folder, whose code this process then imports."""
    home = directory.resolve()
    _entries.cache_clear()
    if not home.is_dir():
        raise InputError(f"{directory} is not a folder; --course wants one that holds exercises, e01_name/ and so on")
    if not _entries(home):
        raise InputError(f"{directory} holds no exercise; wanted for instance {directory}/e01_name/about.toml")
    _Course.home = home
    if home != HOME and str(home) not in sys.path:
        sys.path.append(str(home))


def entries() -> tuple[ExerciseEntry, ...]:
    """All exercises in their order."""
    return _entries(_Course.home)


@cache
def _entries(home: Path) -> tuple[ExerciseEntry, ...]:
    found = tuple(_entry(path) for path in sorted(home.glob("e[0-9][0-9]_*")) if path.is_dir())
    for one, other in pairwise(found):
        if one.number == other.number:
            raise InputError(f"{one.home} and {other.home} have the same number: give one of them another")
    return found


def is_exercise(word: str) -> bool:
    """Whether `find` finds one."""
    return any(word in _names(entry) for entry in entries())


def _names(entry: ExerciseEntry) -> tuple[str, ...]:
    return str(entry.number), f"{entry.number:02}", entry.name, entry.name[3:]


def find(wanted: str) -> ExerciseEntry:
    """By number ("3"), by folder ("03_masking") or by name ("masking")."""
    for entry in entries():
        if wanted in _names(entry):
            return entry
    names = ", ".join(f"{entry.number} {entry.name[3:]}" for entry in entries())
    raise InputError(f"there is no exercise {wanted!r}; the course has {names}")


def _entry(home: Path) -> ExerciseEntry:
    missing = [name for name in FILES if not (home / name).is_file()]
    if missing:
        raise InputError(f"{home} has no {', no '.join(missing)}; an exercise needs {', '.join(FILES)}")
    about = _about(home / "about.toml")
    return ExerciseEntry(
        number=int(home.name[1:3]),
        name=home.name[1:],
        title=about["title"],
        needs=about["needs"],
        seconds=float(about.get("seconds", 10)),
        points=about.get("points", 1),
        home=home,
        story=about.get("story", ""),
    )


def _about(path: Path) -> dict[str, Any]:
    """The checked content of an about.toml."""
    try:
        about = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    for key, value in about.items():
        if key not in KEYS:
            raise InputError(f"{path}: there is no key {key!r}; the keys are {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):
            raise InputError(f"{path}: {key} = {value!r} has the wrong type")
    if not about.get("title") or about.get("needs") not in ("numpy", "torch"):
        raise InputError(f'{path}: wanted a title, and needs = "numpy" or "torch"')
    if about.get("seconds", 10) <= 0 or about.get("points", 1) < 0:
        raise InputError(f"{path}: seconds must be above 0 and points not below 0")
    return about
