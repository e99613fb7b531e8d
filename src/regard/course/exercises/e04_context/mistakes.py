"""Exercise 4: wrong contexts that people write."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray

from regard.course.exercises.e04_context.solution import softmax


def transposed_weights(scores: ndarray, states: ndarray) -> ndarray:
    return softmax(scores).T @ states


def softmax_over_steps(scores: ndarray, states: ndarray) -> ndarray:
    return softmax(scores.T).T @ states


def sum_over_width(scores: ndarray, states: ndarray) -> ndarray:
    return softmax(scores) @ states.T


def uses_scores(scores: ndarray, states: ndarray) -> ndarray:
    return scores @ states


def plain_mean(scores: ndarray, states: ndarray) -> ndarray:
    return np.tile(states.mean(axis=0), (len(scores), 1))
