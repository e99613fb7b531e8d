"""The fixed vector in NumPy: the only output of an encoder without attention (Cho et al. 2014)."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

EQUATION = "c_t = c = [forward h at the last word; backward h at the first]"


def fixed_vector(
    h: Float[ndarray, "source state"], real: Bool[ndarray, " source"], bidirectional: bool = False
) -> Float[ndarray, " state"]:
    """The summary of one sentence: the context of every step."""
    kept = h[real]
    if not len(kept):
        return np.zeros(h.shape[1], dtype=h.dtype)
    if not bidirectional:
        return np.array(kept[-1])
    half = h.shape[1] // 2
    return np.concatenate([kept[-1, :half], kept[0, half:]])
