"""Exercise 1: wrong softmaxes that people write."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray


def no_maximum(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def first_axis(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores - scores.max(axis=0, keepdims=True))
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def first_axis_no_maximum(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=0, keepdims=True)


def all_axes(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def all_axes_no_maximum(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


def one_maximum(scores: ndarray) -> ndarray:
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
