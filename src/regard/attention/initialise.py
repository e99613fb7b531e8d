"""How every parameter of a mechanism begins: uniform within ±1/√fan-in."""

import torch
from torch import nn


def parameter(*shape: int) -> nn.Parameter:
    """A matrix `[out, in]` or a vector `[in]` whose product with unit-variance input keeps a moderate size."""
    bound = shape[-1] ** -0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))
