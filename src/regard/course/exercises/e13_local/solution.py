"""13 · Local attention, monotonic and predictive: a solution."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def masked_softmax(
    scores: Float[Tensor, "batch source"], seen: Bool[Tensor, "batch source"]
) -> Float[Tensor, "batch source"]:
    """From exercise 3, for any mask that leaves something to see."""
    return torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1)


def local_m(
    scores: Float[Tensor, "batch source"], step: int, lengths: Int[Tensor, " batch"], reach: int
) -> Float[Tensor, "batch source"]:
    """The weights of step t inside the window around p_t = t."""
    centers = (lengths - 1).clamp(max=step)
    positions = torch.arange(scores.shape[1])
    near = (positions - centers[:, None]).abs() <= reach
    return masked_softmax(scores, near & (positions < lengths[:, None]))


def local_p(
    scores: Float[Tensor, "batch source"],
    state: Float[Tensor, "batch hidden"],
    lengths: Int[Tensor, " batch"],
    reach: int,
    W_p: Float[Tensor, "width hidden"],
    v_p: Float[Tensor, " width"],
) -> tuple[Float[Tensor, "batch source"], Float[Tensor, " batch"]]:
    """The weights inside the window around the predicted p_t, dimmed by a Gaussian; and p_t."""
    centers = lengths * torch.sigmoid(torch.tanh(state @ W_p.T) @ v_p)
    positions = torch.arange(scores.shape[1])
    distances = positions - centers[:, None]
    weights = masked_softmax(scores, (distances.abs() <= reach) & (positions < lengths[:, None]))
    sigma = reach / 2
    return weights * torch.exp(-(distances**2) / (2 * sigma**2)), centers
