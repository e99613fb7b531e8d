"""Exercise 13: wrong windows that people write."""

import torch
from torch import Tensor

from regard.course.exercises.e13_local.solution import masked_softmax

Pair = tuple[Tensor, Tensor]


def _centers(state: Tensor, W_p: Tensor, v_p: Tensor) -> Tensor:
    """p_t as a share of the sentence."""
    return torch.sigmoid(torch.tanh(state @ W_p.T) @ v_p)


def _distances(scores: Tensor, centers: Tensor) -> Tensor:
    return torch.arange(scores.shape[1]) - centers[:, None]


def _real(scores: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(scores.shape[1]) < lengths[:, None]


def _window(scores: Tensor, centers: Tensor, lengths: Tensor, reach: int) -> Tensor:
    return masked_softmax(scores, (_distances(scores, centers).abs() <= reach) & _real(scores, lengths))


def _fade(scores: Tensor, centers: Tensor, sigma: float) -> Tensor:
    return torch.exp(-(_distances(scores, centers) ** 2) / (2 * sigma**2))


def sigma_is_reach(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = lengths * _centers(state, W_p, v_p)
    return _window(scores, centers, lengths, reach) * _fade(scores, centers, float(reach)), centers


def padded_length(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = scores.shape[1] * _centers(state, W_p, v_p)
    seen = (_distances(scores, centers).abs() <= reach) & _real(scores, lengths)
    # Where the centre lies far in the padding nothing is left to see; softmax would give NaN.
    weights = torch.nan_to_num(masked_softmax(scores, seen))
    return weights * _fade(scores, centers, reach / 2), centers


def padded_length_nan(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = scores.shape[1] * _centers(state, W_p, v_p)
    return _window(scores, centers, lengths, reach) * _fade(scores, centers, reach / 2), centers


def last_position(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    """S - 1 for S."""
    centers = (lengths - 1) * _centers(state, W_p, v_p)
    return _window(scores, centers, lengths, reach) * _fade(scores, centers, reach / 2), centers


def not_squared(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers, sigma = lengths * _centers(state, W_p, v_p), reach / 2
    fade = torch.exp(-_distances(scores, centers).abs() / (2 * sigma**2))
    return _window(scores, centers, lengths, reach) * fade, centers


def signed_distance(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers, sigma = lengths * _centers(state, W_p, v_p), reach / 2
    fade = torch.exp(-_distances(scores, centers) / (2 * sigma**2))
    return _window(scores, centers, lengths, reach) * fade, centers


def sigma_not_squared(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers, sigma = lengths * _centers(state, W_p, v_p), reach / 2
    fade = torch.exp(-(_distances(scores, centers) ** 2) / (2 * sigma))
    return _window(scores, centers, lengths, reach) * fade, centers


def renormalised(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = lengths * _centers(state, W_p, v_p)
    weights = _window(scores, centers, lengths, reach) * _fade(scores, centers, reach / 2)
    return weights / weights.sum(dim=-1, keepdim=True), centers


def no_window(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = lengths * _centers(state, W_p, v_p)
    return masked_softmax(scores, _real(scores, lengths)) * _fade(scores, centers, reach / 2), centers


def rounded_center(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = (lengths * _centers(state, W_p, v_p)).round()
    return _window(scores, centers, lengths, reach) * _fade(scores, centers, reach / 2), centers


def no_gaussian(scores: Tensor, state: Tensor, lengths: Tensor, reach: int, W_p: Tensor, v_p: Tensor) -> Pair:
    centers = lengths * _centers(state, W_p, v_p)
    return _window(scores, centers, lengths, reach), centers


def m_runs_out(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    return _window(scores, torch.full_like(lengths, step), lengths, reach)


def m_runs_into_padding(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    """Stays inside the rectangle, not inside the sentence."""
    return _window(scores, torch.full_like(lengths, min(step, scores.shape[1] - 1)), lengths, reach)


def m_sees_padding(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    centers = (lengths - 1).clamp(max=step)
    return masked_softmax(scores, _distances(scores, centers).abs() <= reach)


def m_half_open(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    distances = _distances(scores, (lengths - 1).clamp(max=step))
    return masked_softmax(scores, (distances >= -reach) & (distances < reach) & _real(scores, lengths))


def m_too_narrow(scores: Tensor, step: int, lengths: Tensor, reach: int) -> Tensor:
    return masked_softmax(
        scores, (_distances(scores, (lengths - 1).clamp(max=step)).abs() < reach) & _real(scores, lengths)
    )
