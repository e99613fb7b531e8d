"""Luong's local windows in NumPy, straight from Luong, Pham and Manning 2015 (section 3.2): the oracle."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from regard.attention.worked import WorkedView

LOCAL_M_EQUATION = "p_t = t,  s in [p_t - D, p_t + D]"
LOCAL_P_EQUATION = "p_t = S · sigmoid(v_p · tanh(W_p s_t)),  a_ts = softmax(e_t)_s · exp(-(s - p_t)² / 2σ²),  σ = D / 2"


def local_m(
    s: Float[ndarray, "target query"], real: Bool[ndarray, " source"], *, reach: int, position: int = 0
) -> WorkedView:
    """`p_t = t`, never beyond the last real position; D is `reach`."""
    last = max(int(real.sum()) - 1, 0)
    center = np.array([min(position + row, last) for row in range(len(s))], dtype=s.dtype)
    return WorkedView(_inside(center, real, reach), None, center)


def local_p(
    s: Float[ndarray, "target query"],
    real: Bool[ndarray, " source"],
    *,
    reach: int,
    W_p: Float[ndarray, "width query"],
    v_p: Float[ndarray, " width"],
) -> WorkedView:
    """`p_t = S · sigmoid(v_p · tanh(W_p s_t))` and a Gaussian around it; S counts real positions, D is `reach`."""
    S = real.sum()
    center = np.array([S / (1 + np.exp(-v_p @ np.tanh(W_p @ s_t))) for s_t in s], dtype=s.dtype)
    sigma = reach / 2
    rows = [[np.exp(-((place - p) ** 2) / (2 * sigma**2)) for place in range(len(real))] for p in center]
    gaussian = np.array(rows, dtype=s.dtype).reshape(len(s), len(real))
    return WorkedView(_inside(center, real, reach), gaussian, center)


def _inside(center: ndarray, real: ndarray, reach: int) -> ndarray:
    rows = [[p - reach <= place <= p + reach and real[place] for place in range(len(real))] for p in center]
    return np.array(rows, dtype=bool).reshape(len(center), len(real))
