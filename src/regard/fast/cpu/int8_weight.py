"""Matrix products in 8-bit integers on a CPU, for translators that are loaded with precision="int8".

    y = (X W') ∘ (a b') + bias        x ≈ a ∘ X,  w ≈ b ∘ W,  X and W integers from -127 to 127

a has one number for each row of x, b one for each row of the weight. Sums of integers are exact, so a row's result does
not depend on the rows beside it (docs/results/decoding.md has the speed).
"""

import torch
from torch import Tensor

from regard.torch_private import int8_product

LEVELS = 127
SMALLEST = 1e-30
"""Smallest divisor: a row of zeros is divided by it."""


class Int8Weight:
    """A weight [out, in] as 8-bit integers with one scale for each row."""

    def __init__(self, weight: Tensor) -> None:
        b = weight.detach().abs().amax(dim=1).clamp_min(SMALLEST) / LEVELS
        self.levels = (weight.detach() / b[:, None]).round_().to(torch.int8).t()
        self.scale = b / LEVELS

    def product(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """x W' + bias, each row of x rounded to 8 bits by its own scale."""
        rows = x.reshape(-1, x.shape[-1])
        most = rows.abs().amax(dim=1, keepdim=True).clamp_min_(SMALLEST)
        levels = (rows * (LEVELS / most)).round_().to(torch.int8)
        y = int8_product(levels, self.levels) * most
        y = y.mul_(self.scale) if bias is None else torch.addcmul(bias, y, self.scale)
        return y.view(*x.shape[:-1], y.shape[-1])
