"""The course checks itself: every exercise, every mistake, every text."""

import subprocess
import sys

import pytest

from regard.course.catalogue import ExerciseEntry, entries
from regard.course.selfcheck import mistake_problems, solution_problems, starter_problems, text_problems

ENTRIES = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
TRAINS = ("09_training",)
"""Exercises whose solution trains for seconds."""
EVERY = {"09_training": 8, "10_heatmap": 4}
"""Exercises that train or draw: make test checks every n-th mistake, make test-long all of them."""
SOLUTIONS = pytest.mark.parametrize(
    "entry",
    [pytest.param(entry, marks=pytest.mark.slow if entry.name in TRAINS else ()) for entry in entries()],
    ids=lambda entry: entry.name,
)


@ENTRIES
def test_starter_fails_kindly(entry: ExerciseEntry) -> None:
    assert list(starter_problems(entry, entry.load())) == []


@SOLUTIONS
def test_solution_and_alternatives_pass_and_every_check_asserts(entry: ExerciseEntry) -> None:
    assert list(solution_problems(entry, entry.load())) == []


@ENTRIES
def test_each_mistake_gets_its_own_message(entry: ExerciseEntry) -> None:
    assert list(mistake_problems(entry.load(), most=1, every=EVERY.get(entry.name, 1))) == []


@ENTRIES
@pytest.mark.long
def test_each_variant_of_a_mistake_gets_its_message(entry: ExerciseEntry) -> None:
    assert list(mistake_problems(entry.load())) == []


@ENTRIES
def test_texts(entry: ExerciseEntry) -> None:
    assert list(text_problems(entry)) == []


def test_numbers_have_no_gap() -> None:
    assert [entry.number for entry in entries()] == list(range(1, len(entries()) + 1))


@pytest.mark.parametrize("entry", [one for one in entries() if one.needs == "numpy"], ids=lambda entry: entry.name)
def test_numpy_exercises_are_graded_without_torch(entry: ExerciseEntry) -> None:
    code = (
        f"import sys, {entry.module}.check, {entry.module}.solution;"
        "import regard.course.process, regard.course.learner_process;"
        "print([name for name in ('torch', 'pydantic', 'typer', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
