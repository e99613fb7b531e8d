"""Luong's local windows with their parameters: local-m and local-p, for any score."""

import torch
from torch import nn
from torch.nn import functional

from regard.attention.attend import parameter
from regard.attention.local.functional import gaussian_fade, monotonic_center, predicted_center, window_mask
from regard.attention.protocol import Query, Real, View


class LocalM(nn.Module):
    """Step t sees `[t - D, t + D]`; D is `reach`: Luong, Pham and Manning 2015, section 3.2, local-m.

    Deviation: steps count from 0, and once t has passed the last real position the window stays there. The paper leaves
    such a step an empty window; a decoder that writes more words than the source has would then see nothing.
    """

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.reach = _checked_reach("LocalM", reach)

    def forward(self, query: Query, real: Real, position: int = 0) -> View:
        dtype = torch.promote_types(query.dtype, torch.float32)
        center = monotonic_center(real.sum(dim=1), query.shape[1], position, dtype)
        return View(window_mask(center, real, self.reach), None, center)


class LocalP(nn.Module):
    """`p_t = S · sigmoid(v_p · tanh(W_p s_t))`, a window `[p_t - D, p_t + D]` and a Gaussian with `σ = D / 2`.

    Luong, Pham and Manning 2015, section 3.2, local-p. S is the sentence's real length, padding not counted. The
    Gaussian multiplies the weights after the softmax and nothing is renormalised, as in the paper, so a row sums to at
    most 1. Deviation: positions count from 0, so that p_t lies in (0, S) and the last position is S - 1.
    """

    def __init__(self, reach: int, query_width: int, width: int) -> None:
        super().__init__()
        self.reach = _checked_reach("LocalP", reach)
        self.W_p = parameter(width, query_width)
        self.v_p = parameter(width)

    def forward(self, query: Query, real: Real, position: int = 0) -> View:
        if query.shape[-1] != self.W_p.shape[1]:
            raise ValueError(f"LocalP: the query is {query.shape[-1]} wide, but query_width is {self.W_p.shape[1]}")
        center = predicted_center(functional.linear(query, self.W_p), self.v_p, real.sum(dim=1))
        gaussian = gaussian_fade(center, real.shape[1], self.reach).to(query.dtype)
        return View(window_mask(center, real, self.reach), gaussian, center)


def _checked_reach(name: str, reach: int) -> int:
    if reach < 1:
        raise ValueError(f"{name}: reach is {reach}, but a window needs at least 1 position to each side")
    return reach
