"""The module under test and the small sentences it is tried on."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.attention.masking import lengths_to_mask
from regard.attention.protocol import Attended, Attention

BATCH, SOURCE, TARGET = 3, 6, 4
LENGTHS = (6, 4, 1)


class Skip(Exception):
    """Raised by a law that does not apply to this module."""


@dataclass(frozen=True)
class Subject:
    """A module in evaluation mode, with the settings that the laws need."""

    module: Attention
    state_width: int
    ordered: bool
    normalised: bool | None
    dtype: torch.dtype
    device: torch.device
    tolerance: float
    seed: int

    def draw(self, *shape: int, salt: int = 0) -> Tensor:
        """Normal numbers that depend on the seed and the salt alone; the global generator is not used."""
        generator = torch.Generator().manual_seed(self.seed * 1009 + salt)
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(self.device, self.dtype)

    def states(self, salt: int = 1) -> Tensor:
        return self.draw(BATCH, SOURCE, self.state_width, salt=salt)

    def query(self, salt: int = 2) -> Tensor:
        return self.draw(BATCH, TARGET, self.module.query_width, salt=salt)

    def real(self) -> Tensor:
        """Sentences of 6, 4 and 1 words in 6 positions."""
        return lengths_to_mask(torch.tensor(LENGTHS, device=self.device), SOURCE)

    def see(self, query: Tensor, states: Tensor, real: Tensor, **options: Any) -> Attended:
        """`prepare`, then one call."""
        return self.module(query, self.module.prepare(states, real), **options)

    def weights_of(self, seen: Attended) -> Tensor:
        """The weights; Skip where the module reports none."""
        if seen.weights is None:
            raise Skip("the module reports no weights")
        return seen.weights


def gap(left: Tensor, right: Tensor) -> float:
    """The largest difference; infinite where shapes differ or one side is not finite and the other is."""
    if left.shape != right.shape:
        return float("inf")
    if not left.numel():
        return 0.0
    return float((left - right).detach().abs().nan_to_num(nan=float("inf")).max())


def apart(left: Attended, right: Attended) -> float:
    """How far two answers are from each other, in context and weights."""
    far = gap(left.context, right.context)
    if (left.weights is None) != (right.weights is None):
        return float("inf")
    if left.weights is not None and right.weights is not None:
        far = max(far, gap(left.weights, right.weights))
    return far
