"""Additive attention in NumPy, straight from Bahdanau, Cho and Bengio 2014 (section 3.1 and A.1.2): the oracle."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from regard.attention.worked import Worked, WorkedView, work

EQUATION = "e_ts = v · tanh(W_s s_t + W_h h_s)"


def additive(
    s: Float[ndarray, "target query"],
    h: Float[ndarray, "source state"],
    view: WorkedView,
    *,
    W_s: Float[ndarray, "width query"],
    W_h: Float[ndarray, "width state"],
    v: Float[ndarray, " width"],
    b: Float[ndarray, " width"] | None = None,
) -> Worked:
    """`e_ts = v · tanh(W_s s_t + W_h h_s)`, `a_t = softmax(e_t)`, `c_t = sum_s a_ts h_s`; b joins inside the tanh."""
    query = s @ W_s.T
    keys = h @ W_h.T if b is None else h @ W_h.T + b
    scores = np.array([[v @ np.tanh(q + k) for k in keys] for q in query], dtype=s.dtype).reshape(len(s), len(h))
    return work(query, keys, h, scores, view)
