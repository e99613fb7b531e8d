"""Exercise 13: other correct ways."""

import math

import torch
from torch import Tensor


def m_by_slices(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    weights = torch.zeros_like(scores)
    for row, length in enumerate(lengths.tolist()):
        center = min(step, length - 1)
        first, last = max(0, center - reach), min(length - 1, center + reach)
        weights[row, first : last + 1] = torch.softmax(scores[row, first : last + 1], dim=0)
    return weights


def p_by_slices(
    scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor
) -> tuple[Tensor, Tensor]:
    """ceil and floor find the first and the last position inside the window."""
    centers = torch.sigmoid((W_p @ state.T).tanh().T @ v_p) * lengths.to(scores.dtype)
    rows = []
    for row, length in enumerate(lengths.tolist()):
        center = centers[row]
        first = max(0, math.ceil(float(center) - reach))
        last = min(length - 1, math.floor(float(center) + reach))
        places = torch.arange(first, last + 1)
        inside = scores[row, first : last + 1].softmax(dim=0) * torch.exp(-2 * ((places - center) / reach) ** 2)
        rows.append(torch.nn.functional.pad(inside, (first, scores.shape[1] - last - 1)))
    return torch.stack(rows), centers


def m_with_lowest_float(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    positions = torch.arange(scores.shape[1]).expand_as(scores)
    center = torch.minimum(torch.full_like(lengths, step), lengths - 1).unsqueeze(1)
    hidden = (positions < center - reach) | (positions > center + reach) | (positions >= lengths.unsqueeze(1))
    return torch.where(hidden, torch.finfo(scores.dtype).min, scores).softmax(dim=-1)
