"""Exercise 1: other correct ways."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray


def through_logarithms(scores: ndarray) -> ndarray:
    largest = scores.max(axis=-1, keepdims=True)
    total = largest + np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True))
    return np.exp(scores - total)


def row_by_row(scores: ndarray) -> ndarray:
    weights = np.empty_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        row = np.exp(scores[place] - np.max(scores[place]))
        weights[place] = row / row.sum()
    return weights
