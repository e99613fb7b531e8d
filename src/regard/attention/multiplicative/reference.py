"""Luong's three scores in NumPy, straight from Luong, Pham and Manning 2015 (section 3.1): the oracle."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from regard.attention.worked import Worked, WorkedView, work

DOT_EQUATION = "e_ts = s_t · h_s"
GENERAL_EQUATION = "e_ts = s_t · W_a h_s"
CONCAT_EQUATION = "e_ts = v · tanh(W_a [s_t; h_s])"


def dot(s: Float[ndarray, "target width"], h: Float[ndarray, "source width"], view: WorkedView) -> Worked:
    """`e_ts = s_t · h_s`."""
    scores = np.array([[s_t @ h_s for h_s in h] for s_t in s], dtype=s.dtype).reshape(len(s), len(h))
    return work(s, h, h, scores, view)


def general(
    s: Float[ndarray, "target query"],
    h: Float[ndarray, "source state"],
    view: WorkedView,
    *,
    W_a: Float[ndarray, "query state"],
) -> Worked:
    """`e_ts = s_t · W_a h_s`."""
    scores = np.array([[s_t @ W_a @ h_s for h_s in h] for s_t in s], dtype=s.dtype).reshape(len(s), len(h))
    return work(s, h @ W_a.T, h, scores, view)


def concat(
    s: Float[ndarray, "target query"],
    h: Float[ndarray, "source state"],
    view: WorkedView,
    *,
    W_a: Float[ndarray, "width query_and_state"],
    v: Float[ndarray, " width"],
) -> Worked:
    """`e_ts = v · tanh(W_a [s_t; h_s])`; `query` and `keys` are the two parts of the product."""
    rows = [[v @ np.tanh(W_a @ np.concatenate([s_t, h_s])) for h_s in h] for s_t in s]
    scores = np.array(rows, dtype=s.dtype).reshape(len(s), len(h))
    query_width = s.shape[1]
    return work(s @ W_a[:, :query_width].T, h @ W_a[:, query_width:].T, h, scores, view)
