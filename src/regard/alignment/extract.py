"""From attention over pieces to links between words."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from regard.alignment.links import Link

Method = Literal["argmax", "threshold"]


def combine_heads(
    weights: Float[np.ndarray, "layer head target source"], layer: int | None = None, head: int | None = None
) -> Float[np.ndarray, "target source"]:
    """One matrix out of many: the chosen layer and head, the mean over whichever is None; -1 is the last."""
    chosen = []
    for name, index, count in (("layer", layer, weights.shape[0]), ("head", head, weights.shape[1])):
        if index is not None and not -count <= index < count:
            raise ValueError(f"there is no {name} {index}: this attention has {count}, numbered from 0 to {count - 1}")
        chosen.append(slice(None) if index is None else [index])
    layers, heads = chosen
    return np.asarray(weights[layers][:, heads].mean(axis=(0, 1)))


def word_matrix(
    weights: Float[np.ndarray, "target source"] | Float[np.ndarray, "layer head target source"],
    source_words: Sequence[int | None],
    target_words: Sequence[int | None],
    *,
    layer: int | None = None,
    head: int | None = None,
) -> Float[np.ndarray, "target_words source_words"]:
    """How much each target word looks at each source word.

    `source_words[i]` is the word that piece i belongs to, None for EOS and other specials, which are left out; so a
    row sums to at most 1. Looking at any piece of a word is looking at the word (sum over source pieces); each piece
    of a target word has its say (mean over target pieces). Words without pieces have rows or columns of zeros.
    """
    matrix = combine_heads(weights, layer, head) if weights.ndim == 4 else weights
    if matrix.shape != (len(target_words), len(source_words)):
        raise ValueError(
            f"the attention has {matrix.shape[0]} target and {matrix.shape[1]} source positions, but word numbers were "
            f"given for {len(target_words)} and {len(source_words)}: leave no piece out, and cut the padding off"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("the attention holds NaN or infinite weights: the model that made it is damaged")
    to_source, to_target = _membership(source_words), _membership(target_words)
    pieces = np.maximum(to_target.sum(axis=0), 1)
    return np.asarray((to_target.T @ matrix @ to_source) / pieces[:, None])


def word_links(
    matrix: Float[np.ndarray, "target_words source_words"],
    *,
    method: Method = "argmax",
    threshold: float | None = None,
) -> frozenset[Link]:
    """(source word, target word) links out of a word matrix.

    argmax: each target word links to the source word it looks at most (the first of equals), if that has at least
    the threshold where one is given. threshold: every pair with at least the threshold. Weight 0 never links.
    """
    if method == "threshold" and threshold is None:
        raise ValueError("method 'threshold' needs a threshold, for instance 0.2")
    return links_in(linked(matrix, method, threshold))


def linked(
    matrix: Float[np.ndarray, "target_words source_words"], method: Method, threshold: float | None
) -> Bool[np.ndarray, "target_words source_words"]:
    """True where `word_links` links."""
    found = matrix > 0 if threshold is None else (matrix > 0) & (matrix >= threshold)
    if method == "argmax" and matrix.size:
        first = np.zeros_like(found)
        first[np.arange(len(matrix)), matrix.argmax(axis=1)] = True
        found &= first
    return found


def links_in(linked: Bool[np.ndarray, "target_words source_words"]) -> frozenset[Link]:
    """The places that are True, as (source word, target word)."""
    return frozenset((int(source), int(target)) for target, source in np.argwhere(linked))


def _membership(words: Sequence[int | None]) -> Float[np.ndarray, "pieces words"]:
    """1 where a piece belongs to a word."""
    known = [word for word in words if word is not None]
    if known and min(known) < 0:
        raise ValueError(f"word numbers start at 0, got {min(known)}")
    matrix = np.zeros((len(words), max(known, default=-1) + 1))
    for piece, word in enumerate(words):
        if word is not None:
            matrix[piece, word] = 1.0
    return matrix
