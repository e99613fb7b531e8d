"""17 · Repair the black box: a solution."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def attend(
    query: Float[Tensor, "batch hidden"],
    states: Float[Tensor, "batch source state"],
    real: Bool[Tensor, "batch source"],
    W_s: Float[Tensor, "width hidden"],
    W_h: Float[Tensor, "width state"],
    v: Float[Tensor, " width"],
) -> tuple[Float[Tensor, "batch state"], Float[Tensor, "batch source"]]:
    """The context of each sentence, and the weights that it was mixed with."""
    scores = torch.tanh((query @ W_s.T)[:, None] + states @ W_h.T) @ v
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    return (weights[..., None] * states).sum(dim=1), weights
