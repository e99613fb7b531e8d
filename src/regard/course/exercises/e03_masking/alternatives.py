"""Exercise 3: other correct ways."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray

from regard.course.exercises.e03_masking.solution import softmax


def row_by_row(scores: ndarray, lengths: ndarray) -> ndarray:
    weights = np.zeros_like(scores)
    for row, length in enumerate(lengths):
        weights[row, :length] = softmax(scores[row, :length])
    return weights


def lowest_float(scores: ndarray, lengths: ndarray) -> ndarray:
    masked = scores.copy()
    masked[np.arange(scores.shape[1])[None, :] >= lengths[:, None]] = np.finfo(scores.dtype).min
    return softmax(masked)
