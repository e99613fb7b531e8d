"""Entropy of attention: near 0 for one position, ln(n) for n positions with equal weights."""

import numpy as np
from jaxtyping import Float


def attention_entropy(weights: Float[np.ndarray, "*rows source"]) -> Float[np.ndarray, "*rows"]:
    """Entropy of each row in nats: H = -Σ_s p_s ln p_s with p = row / Σ row.

    Rows that do not sum to 1 (local attention, specials cut off) are scaled first; a row of zeros has entropy 0.
    """
    if (weights < 0).any() or not np.isfinite(weights).all():
        raise ValueError("attention weights must be finite and not negative")
    total = weights.sum(axis=-1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    logarithm = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(np.maximum(-(share * logarithm).sum(axis=-1), 0.0))
