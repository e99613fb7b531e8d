"""Time that a check spends on work of its own is not the learner's, and is shown."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.catalogue import ExerciseEntry
from regard.course.exercise import Exercise, Law
from regard.course.process import Grader
from regard.course.waiting import bar, busy

GOOD = """
import numpy as np

def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
"""


def slow_to_check(exercise: Exercise, told: bool) -> Exercise:
    """The same exercise with a law that computes for longer than the learner may."""

    def work(attempt: Attempt, check: Check, random: Generator) -> None:
        for part in range(5):
            time.sleep(0.3)
            if told:
                busy("at work", part, 5)
        check.that(bool(attempt.softmax(np.zeros(2)).sum() == 1.0), "Not a distribution.")

    return replace(exercise, laws=(Law("work", "a check that works", work), *exercise.laws))


@pytest.mark.parametrize("told", [True, False])
def test_only_the_learner_s_own_time_counts(
    softmax_entry: ExerciseEntry, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    heard: list[tuple[str, int, int]] = []
    slow = slow_to_check(softmax_entry.load(), told)
    monkeypatch.setattr(ExerciseEntry, "load", lambda self: slow)
    with Grader(replace(softmax_entry, seconds=1.0)) as grader:
        verdict = grader.grade(write(GOOD), waiting=lambda *news: heard.append(news))
    assert verdict.passed, verdict
    assert heard[-1:] == ([("at work", 4, 5)] if told else [])


def test_the_learner_s_time_is_limited(softmax_entry: ExerciseEntry, write: Callable[..., Path]) -> None:
    with Grader(replace(softmax_entry, seconds=1.0)) as grader:
        verdict = grader.grade(write("import time\ntime.sleep(3)\n" + GOOD))
    assert verdict.status == "stopped"


def test_nobody_needs_to_listen() -> None:
    busy("at work", 1, 2)


def test_the_bar_fits_and_never_leaves_its_frame() -> None:
    assert bar("training", 1, 2, width=30) == "training  ██████░░░░░░░  50 %"
    for done in (-3, 0, 7, 99):
        assert len(bar("training", done, 7, width=60)) == len(bar("training", 3, 7, width=60)) <= 60
    assert bar("training", 0, 0).endswith("  0 %")
