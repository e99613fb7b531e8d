"""Head selection, links from a matrix of attention between words, and its entropy."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from regard.alignment.links import Link

Method = Literal["argmax", "threshold"]


def combine_heads(
    weights: Float[np.ndarray, "layer head target source"], layer: int | None = None, head: int | None = None
) -> Float[np.ndarray, "target source"]:
    """One matrix: that of the given layer and head (-1: the last); where one is None, the mean over it."""
    chosen = []
    for name, index, count in (("layer", layer, weights.shape[0]), ("head", head, weights.shape[1])):
        if index is not None and not -count <= index < count:
            raise ValueError(f"there is no {name} {index}: this attention has {count}, numbered from 0 to {count - 1}")
        chosen.append(slice(None) if index is None else [index])
    layers, heads = chosen
    return np.asarray(weights[layers][:, heads].mean(axis=(0, 1)))


def word_links(matrix: Float[np.ndarray, "target_words source_words"]) -> frozenset[Link]:
    """(source word, target word) links: each target word links to the source word with the highest weight.

    Of equal weights the first counts; weight 0 never links. `LinkRule` has thresholds and other methods.
    """
    return links_in(linked(matrix, "argmax", None))


def linked(
    matrix: Float[np.ndarray, "target_words source_words"], method: Method, threshold: float | None
) -> Bool[np.ndarray, "target_words source_words"]:
    """True where a target word links to a source word."""
    found = matrix > 0 if threshold is None else (matrix > 0) & (matrix >= threshold)
    if method == "argmax" and matrix.size:
        first = np.zeros_like(found)
        first[np.arange(len(matrix)), matrix.argmax(axis=1)] = True
        found &= first
    return found


def links_in(linked: Bool[np.ndarray, "target_words source_words"]) -> frozenset[Link]:
    """The places that are True, as (source word, target word)."""
    return frozenset((int(source), int(target)) for target, source in np.argwhere(linked))


def attention_entropy(weights: Float[np.ndarray, "*rows source"]) -> Float[np.ndarray, "*rows"]:
    """Entropy of each row in nats: H = -Σ_s p_s ln p_s with p = row / Σ row.

    Near 0 for one position, ln(n) for n positions with equal weights. Rows that do not sum to 1 (local
    attention, specials cut off) are scaled first; a row of zeros has entropy 0.
    """
    if (weights < 0).any() or not np.isfinite(weights).all():
        raise ValueError("attention weights must be finite and not negative")
    total = weights.sum(axis=-1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    logarithm = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(np.maximum(-(share * logarithm).sum(axis=-1), 0.0))
