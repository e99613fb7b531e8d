"""2 · Bahdanau's additive score: a solution."""

# mypy: disable-error-code="no-any-return"

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def additive_score(
    query: Float[ndarray, " query"],
    states: Float[ndarray, "source state"],
    W_s: Float[ndarray, "width query"],
    W_h: Float[ndarray, "width state"],
    v: Float[ndarray, " width"],
) -> Float[ndarray, " source"]:
    """How much the decoder state `query` needs each of the encoder's `states`."""
    return np.tanh(W_s @ query + states @ W_h.T) @ v
