"""Shared by the NumPy references: attention over one sentence with all intermediate values. Imports no torch."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray


@dataclass(frozen=True)
class WorkedView:
    """The positions that each step of one sentence may see; the NumPy form of `View`."""

    mask: Bool[ndarray, "target source"]
    gaussian: Float[ndarray, "target source"] | None = None
    center: Float[ndarray, " target"] | None = None


@dataclass(frozen=True)
class Worked:
    """Attention over one sentence, with all intermediate values from the projections to the context.

    Multi-head attention has a head axis in front of all but `mask`, `gaussian`, `center` and `context`.
    """

    query: Float[ndarray, "*head target key"]
    keys: Float[ndarray, "*head source key"]
    values: Float[ndarray, "*head source part"]
    scores: Float[ndarray, "*head target source"]
    mask: Bool[ndarray, "target source"]
    weights: Float[ndarray, "*head target source"]
    context: Float[ndarray, "target value"]
    gaussian: Float[ndarray, "target source"] | None = None
    center: Float[ndarray, " target"] | None = None


def global_view(real: Bool[ndarray, " source"], target: int) -> WorkedView:
    """Every step sees every real position."""
    return WorkedView(np.array([real] * target, dtype=bool).reshape(target, len(real)))


def softmax_row(scores: Float[ndarray, " source"], mask: Bool[ndarray, " source"]) -> Float[ndarray, " source"]:
    """`a_s = exp(e_s) / sum_r exp(e_r)` over the positions in the mask, zeros elsewhere."""
    weights = np.zeros_like(scores)
    if mask.any():
        exponentials = np.exp(scores[mask] - scores[mask].max())
        weights[mask] = exponentials / exponentials.sum()
    return weights


def weights_of(scores: Float[ndarray, "target source"], view: WorkedView) -> Float[ndarray, "target source"]:
    """Row by row the softmax inside the mask, then the Gaussian where the window has one."""
    rows = [softmax_row(row, mask) for row, mask in zip(scores, view.mask, strict=True)]
    weights = np.array(rows, dtype=scores.dtype).reshape(scores.shape)
    return weights if view.gaussian is None else weights * view.gaussian


def work(
    query: Float[ndarray, "target key"],
    keys: Float[ndarray, "source key"],
    values: Float[ndarray, "source value"],
    scores: Float[ndarray, "target source"],
    view: WorkedView,
) -> Worked:
    """From scores to context: `c_t = sum_s a_ts h_s`."""
    weights = weights_of(scores, view)
    return Worked(query, keys, values, scores, view.mask, weights, weights @ values, view.gaussian, view.center)
