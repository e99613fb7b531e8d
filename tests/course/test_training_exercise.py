"""Exercise 9: loops written otherwise pass the watched updates, and the exam can be failed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from regard.course.attempt import Attempt
from regard.course.exercises.e09_training import alternatives
from regard.course.exercises.e09_training.check import EXERCISE, LINE
from regard.course.exercises.e09_training.material import examine, small_model
from regard.course.grade import grade


@pytest.mark.parametrize("loop", [alternatives.forgets_at_the_end, alternatives.clips_by_hand])
def test_alternatives_pass_the_watched_updates(loop: Callable[..., list[float]]) -> None:
    verdict = grade(replace(EXERCISE, laws=()), Attempt({"train": loop}))
    assert verdict.passed, verdict


def test_an_untrained_model_fails_the_exam() -> None:
    torch.manual_seed(0)
    exam = examine(small_model(), "reverse")
    assert exam.exact == 0
    assert exam.on_the_line < LINE / 2
    assert exam.weights.shape == (len(exam.target), len(exam.source))
