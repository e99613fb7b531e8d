"""Scaled dot and multi-head attention in NumPy, straight from Vaswani et al. 2017 (section 3.2): the oracle."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from regard.attention.worked import Worked, WorkedView, work

SCALED_DOT_EQUATION = "e_ts = s_t · h_s / √width"
MULTI_HEAD_EQUATION = "c_t = W_o [c_t^1; …; c_t^H],  e_ts^i = (W_q s_t)^i · (W_k h_s)^i / √(width / H)"


def scaled_dot(s: Float[ndarray, "target width"], h: Float[ndarray, "source width"], view: WorkedView) -> Worked:
    """`e_ts = s_t · h_s / √width`."""
    return _scaled_dot(s, h, h, view)


def multi_head(
    s: Float[ndarray, "target query"],
    h: Float[ndarray, "source state"],
    view: WorkedView,
    heads: int,
    *,
    W_q: Float[ndarray, "width query"],
    W_k: Float[ndarray, "width state"],
    W_v: Float[ndarray, "width state"],
    W_o: Float[ndarray, "value width"],
    **biases: Float[ndarray, " bias"],
) -> Worked:
    """One scaled dot attention for each of the H parts of the projections; W_o combines their contexts.

    Biases b_q, b_k, b_v, b_o are added to their projections if given.
    """
    query = s @ W_q.T + biases.get("b_q", 0)
    keys = h @ W_k.T + biases.get("b_k", 0)
    values = h @ W_v.T + biases.get("b_v", 0)
    parts = [np.split(projected, heads, axis=1) for projected in (query, keys, values)]
    each = [_scaled_dot(q, k, v, view) for q, k, v in zip(*parts, strict=True)]
    context = np.concatenate([head.context for head in each], axis=1) @ W_o.T + biases.get("b_o", 0)
    return Worked(
        query=np.stack([head.query for head in each]),
        keys=np.stack([head.keys for head in each]),
        values=np.stack([head.values for head in each]),
        scores=np.stack([head.scores for head in each]),
        mask=view.mask,
        weights=np.stack([head.weights for head in each]),
        context=context,
        gaussian=view.gaussian,
        center=view.center,
    )


def _scaled_dot(query: ndarray, keys: ndarray, values: ndarray, view: WorkedView) -> Worked:
    scale = np.sqrt(query.shape[1])
    scores = np.array([[q @ k / scale for k in keys] for q in query], dtype=query.dtype)
    return work(query, keys, values, scores.reshape(len(query), len(keys)), view)
