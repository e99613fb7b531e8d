"""Exercise 2: wrong scores that people write."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy import ndarray


def no_tanh(query: ndarray, states: ndarray, W_s: ndarray, W_h: ndarray, v: ndarray) -> ndarray:
    return (W_s @ query + states @ W_h.T) @ v


def swapped_matrices(query: ndarray, states: ndarray, W_s: ndarray, W_h: ndarray, v: ndarray) -> ndarray:
    return np.tanh(W_h @ query + states @ W_s.T) @ v


def transposed_matrices(query: ndarray, states: ndarray, W_s: ndarray, W_h: ndarray, v: ndarray) -> ndarray:
    return np.tanh(query @ W_s + states @ W_h) @ v
