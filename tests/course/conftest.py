"""A course of files that misbehave, and the means to grade them."""

from pathlib import Path
from textwrap import dedent

import pytest

from regard.course.catalogue import ExerciseEntry, find
from regard.course.process import Grader
from regard.course.verdict import Verdict

SMALL = ("data.train=200", "data.dev=20", "data.longest=6", "train.steps=8", "train.validate_every=8")
"""For the translator of exercise 17: enough to be one."""


@pytest.fixture(autouse=True)
def small_translator(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Tests of exercise 17 train a tiny translator, outside the home; one test trains the real one."""
    if "repair" in request.node.nodeid:
        from regard.course.exercises.e17_repair import small_translator

        monkeypatch.setattr(small_translator, "CHANGES", (*SMALL, "train.checkpoint_every=4"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def grade_file(entry: ExerciseEntry, path: Path) -> Verdict:
    """Grade a file in a process of its own."""
    with Grader(entry) as grader:
        return grader.grade(path)


@pytest.fixture
def softmax_entry() -> ExerciseEntry:
    return find("softmax")


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Write a learner's file and give its path."""

    def writer(text: str, name: str = "exercise.py") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    return writer
