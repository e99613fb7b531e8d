"""Which exercises there are: read from the folders, without importing an exercise (some of them need torch)."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from regard.course.exercise import Exercise
from regard.text.input_error import InputError

HOME = Path(__file__).parent / "exercises"
TIERS = ("nudge", "concept", "shape of the code")


@dataclass(frozen=True)
class Entry:
    """One exercise of the course: its texts and where its checks live."""

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
        return f"regard.course.exercises.{self.home.name}"

    @property
    def starter(self) -> str:
        return (self.home / "exercise.py.txt").read_text(encoding="utf-8")

    @property
    def readme(self) -> str:
        """The learner's page, with the page of the story that tells more."""
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
        """Without the line that speaks to our type checker."""
        text = (self.home / "solution.py").read_text(encoding="utf-8")
        return re.sub(r"^# mypy: .*\n\n", "", text, flags=re.MULTILINE)

    @property
    def hints(self) -> tuple[str, ...]:
        """The tiers of hint.md, one for each `## ` heading."""
        text = (self.home / "hint.md").read_text(encoding="utf-8")
        return tuple(part.strip() for part in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:])

    def load(self) -> Exercise:
        """Import the checks; for a torch exercise this imports torch."""
        exercise = import_module(f"{self.module}.check").EXERCISE
        if not isinstance(exercise, Exercise):
            raise TypeError(f"{self.module}.check: EXERCISE is a {type(exercise).__name__}, wanted an Exercise")
        return exercise


@cache
def entries() -> tuple[Entry, ...]:
    """All exercises in their order."""
    homes = [path.parent for path in HOME.glob("e??_*/about.toml")]
    return tuple(_entry(home) for home in sorted(homes))


def is_exercise(word: str) -> bool:
    """Whether `find` finds one."""
    return any(word in _names(entry) for entry in entries())


def _names(entry: Entry) -> tuple[str, ...]:
    return str(entry.number), f"{entry.number:02}", entry.name, entry.name[3:]


def find(wanted: str) -> Entry:
    """By number ("3"), by folder ("03_masking") or by name ("masking")."""
    for entry in entries():
        if wanted in _names(entry):
            return entry
    names = ", ".join(f"{entry.number} {entry.name[3:]}" for entry in entries())
    raise InputError(f"there is no exercise {wanted!r}; the course has {names}")


def _entry(home: Path) -> Entry:
    about = tomllib.loads((home / "about.toml").read_text(encoding="utf-8"))
    unknown = set(about) - {"title", "needs", "seconds", "points", "story"}
    if unknown or about.get("needs") not in ("numpy", "torch"):
        raise ValueError(f"{home.name}/about.toml: wanted title, needs (numpy or torch), seconds, points; got {about}")
    return Entry(
        number=int(home.name[1:3]),
        name=home.name[1:],
        title=str(about["title"]),
        needs=str(about["needs"]),
        seconds=float(about.get("seconds", 10)),
        points=int(about.get("points", 1)),
        home=home,
        story=str(about.get("story", "")),
    )
