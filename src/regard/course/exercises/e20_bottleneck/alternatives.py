"""Exercise 20: other correct ways."""

# mypy: disable-error-code="no-any-return"

from bisect import bisect_right

import torch
from torch import Tensor


def by_gather(query: Tensor, states: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    rows = torch.arange(len(states))
    last = real.long().cumsum(dim=1).argmax(dim=1)
    weights = torch.zeros_like(states[..., 0])
    weights[rows, last] = 1.0
    return states[rows, last], weights


def by_next(query: Tensor, states: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """The last real word is followed by padding or by nothing."""
    follows = torch.cat([real[:, 1:], torch.zeros_like(real[:, :1])], dim=1)
    weights = (real & ~follows).to(states)
    return torch.einsum("bs,bsd->bd", weights, states.masked_fill(~real[..., None], 0.0)), weights


def with_bisect(hypotheses: list[list[int]], references: list[list[int]], edges: list[int]) -> list[float | None]:
    right, count = [0] * (len(edges) + 1), [0] * (len(edges) + 1)
    for mine, wanted in zip(hypotheses, references, strict=True):
        place = bisect_right(edges, len(wanted))
        count[place] += 1
        right[place] += int(len(mine) == len(wanted) and all(a == b for a, b in zip(mine, wanted, strict=True)))
    return [one / many if many else None for one, many in zip(right, count, strict=True)]


def listed(attention: list[float | None], fixed: list[float | None], cost: float) -> int | None:
    losses = [None if None in (one, two) else one - two for one, two in zip(attention, fixed, strict=True)]  # type: ignore[operator]
    places = [place for place, loss in enumerate(losses) if loss is not None and not loss < cost]
    return places[0] if places else None
