"""Exercise 3: wrong masks that people write."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray

from regard.course.exercises.e03_masking.solution import softmax


def _real(scores: ndarray, lengths: ndarray) -> ndarray:
    return np.arange(scores.shape[1]) < lengths[:, None]


def no_mask(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(scores)


def after_softmax(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(scores) * _real(scores, lengths)


def times_zero(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(scores * _real(scores, lengths))


def inverted(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(np.where(_real(scores, lengths), -np.inf, scores))


def inverted_finite(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(np.where(_real(scores, lengths), -1e9, scores))


def one_too_many(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(np.where(np.arange(scores.shape[1]) <= lengths[:, None], scores, -np.inf))


def one_too_few(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(np.where(np.arange(scores.shape[1]) < lengths[:, None] - 1, scores, -np.inf))


def added_constant(scores: ndarray, lengths: ndarray) -> ndarray:
    return softmax(np.where(_real(scores, lengths), scores, scores - 1e9))


def renormalised(scores: ndarray, lengths: ndarray) -> ndarray:
    weights = softmax(scores) * _real(scores, lengths)
    return weights / weights.sum(axis=-1, keepdims=True)
