"""Luong's scores in differentiable torch."""

from jaxtyping import Float
from torch import Tensor

from regard.attention.additive.functional import additive_scores


def dot_scores(
    query: Float[Tensor, "*batch target width"], keys: Float[Tensor, "*batch source width"]
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = s_t · k_s`; k is h for dot and `W_a h` for general."""
    return query @ keys.mT


concat_scores = additive_scores
"""`W_a [s; h]` is `W_s s + W_h h` with `W_a = [W_s W_h]`, so concat is scored as additive attention is."""
