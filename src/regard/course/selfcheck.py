"""The self-check of a course: starters fail with a message, solutions pass, each mistake gets its own message."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from regard.course.attempt import Attempt, Unready, load_attempt
from regard.course.catalogue import TIERS, ExerciseEntry
from regard.course.exercise import Exercise, Family
from regard.course.grade import grade
from regard.course.shrink import draw
from regard.course.verdict import Verdict


def problems(entry: ExerciseEntry) -> list[str]:
    """Everything that is wrong with an exercise, as sentences; empty if it keeps the rules of README.md."""
    exercise = entry.load()
    return [
        *starter_problems(entry, exercise),
        *solution_problems(entry, exercise),
        *mistake_problems(exercise),
        *text_problems(entry),
    ]


def starter_problems(entry: ExerciseEntry, exercise: Exercise) -> Iterator[str]:
    """The starter loads, fails as unfinished, and names what to write."""
    verdict = grade_text(entry.starter, exercise)
    if verdict.status != "unfinished":
        yield f"the starter is {verdict.status}, wanted unfinished: {verdict.headline}"
    elif not verdict.headline.startswith("TODO: "):
        yield f"the starter's NotImplementedError must begin with 'TODO: ': {verdict.headline}"
    elif not any(name in verdict.headline for name in exercise.functions):
        yield f"the starter's TODO does not name what to write: {verdict.headline}"
    if '__name__ == "__main__"' not in entry.starter:
        yield 'the starter has no experiment under `if __name__ == "__main__"`'


def solution_problems(entry: ExerciseEntry, exercise: Exercise) -> Iterator[str]:
    """Solution and alternatives pass, and every family and law asserted something while they did."""
    verdict = grade_text(entry.solution, exercise)
    if not verdict.passed:
        yield f"the solution is {verdict.status}: {verdict.headline} {verdict.details}"
    for name in (*(family.name for family in exercise.families), *(law.name for law in exercise.laws)):
        if verdict.passed and not verdict.counts.get(name):
            yield f"{name!r} asserted nothing"
    for number, functions in enumerate(exercise.alternatives, 1):
        other = grade(exercise, Attempt({**exercise.reference, **functions}))
        if not other.passed:
            yield f"alternative {number} is {other.status}: {other.headline} {other.details}"
    for family in exercise.families:
        yield from _draw_problems(family)


def mistake_problems(exercise: Exercise, most: int | None = None, every: int = 1) -> Iterator[str]:
    """Every variant of a mistake fails and is called by its own name; `most` variants of every n-th mistake."""
    if not exercise.mistakes:
        yield "there are no named mistakes"
    for mistake in exercise.mistakes[::every]:
        if not mistake.variants:
            yield f"{mistake.name} has no variant to be recognised by"
        for number, functions in enumerate(mistake.variants[:most], 1):
            verdict = grade(exercise, Attempt({**exercise.reference, **functions}))
            if verdict.passed:
                yield f"{mistake.name}, variant {number}, passes"
            elif verdict.mistake != mistake.name:
                yield f"{mistake.name}, variant {number}, is taken for {verdict.mistake} ({verdict.headline})"
    messages = [mistake.message for mistake in exercise.mistakes]
    if len(set(messages)) != len(messages):
        yield "two mistakes have the same message"


def text_problems(entry: ExerciseEntry) -> Iterator[str]:
    """README and hint have what a learner looks for; what they point at exists."""
    if len(entry.hints) != len(TIERS) or not all(len(tier) > 40 for tier in entry.hints):
        yield f"hint.md must have the sections {', '.join(TIERS)}, each with a text; it has {len(entry.hints)}"
    readme = entry.readme
    if not readme.startswith(f"# {entry.number} · {entry.title}\n"):
        yield f"README.md must begin with '# {entry.number} · {entry.title}'"
    for wanted in ("**The idea.**", "**Write** ", "**Try this.**"):
        if wanted not in readme:
            yield f"README.md has no {wanted}"
    if "```" not in readme:
        yield "README.md has no picture (a ``` block)"
    if not re.search(r"^    \S.*=", readme, flags=re.MULTILINE):
        yield "README.md has no equation (a line that begins with four spaces)"
    if not entry.answers:
        yield "answers.md is missing: what Try this shows, for those who have passed"
    if len(readme.splitlines()) > 47:
        yield f"README.md has {len(readme.splitlines())} lines: one screen is at most 47"
    for target in re.findall(r"\]\(([^)#]+)\)", readme + "\n".join(entry.hints)):
        if not target.startswith("https://") and not (entry.home / target).exists():
            yield f"a link leads nowhere: {target}"


def grade_text(text: str, exercise: Exercise) -> Verdict:
    """Grade the text of a file here, in this process: for our own files only."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "exercise.py"
        path.write_text(text, encoding="utf-8")
        try:
            return grade(exercise, load_attempt(path, exercise.functions, exercise.reference))
        except Unready as error:
            return Verdict("broken", error.headline, error.details)


def _draw_problems(family: Family) -> Iterator[str]:
    for which, name in ((0, "smallest"), (1, "largest")):
        sizes = {axis: bounds[which] for axis, bounds in family.sizes.items()}
        try:
            draw(family, sizes, 0)
        except Exception as error:
            yield f"{family.name!r} cannot be drawn at its {name} sizes {sizes}: {error}"
