"""Luong's scores in differentiable torch."""

from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.additive.functional import additive_scores
from regard.attention.attend import attend


def dot_scores(
    query: Float[Tensor, "*batch target width"], keys: Float[Tensor, "*batch source width"]
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = s_t · k_s`; k is h for dot and `W_a h` for general."""
    return query @ keys.mT


def dot_attention(
    query: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights of dot attention; of general attention when the keys are `W_a h`."""
    return attend(dot_scores(query, keys), values, mask, gaussian)


concat_scores = additive_scores
"""`W_a [s; h]` is `W_s s + W_h h` with `W_a = [W_s W_h]`, so concat is scored as additive attention is."""
