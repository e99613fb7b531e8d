"""Exercise 4: other correct ways."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray

from regard.course.exercises.e04_context.solution import softmax


def in_one_einsum(scores: ndarray, states: ndarray) -> ndarray:
    return np.einsum("ts,sd->td", softmax(scores), states)


def step_by_step(scores: ndarray, states: ndarray) -> ndarray:
    return np.stack([(softmax(row)[:, None] * states).sum(axis=0) for row in scores])
