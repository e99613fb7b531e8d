"""Initialises the parameters of attention modules: uniform within ±1/√fan-in."""

import torch
from torch import nn


def parameter(*shape: int) -> nn.Parameter:
    """A matrix `[out, in]` or a vector `[in]`, drawn uniformly from ±1/√in."""
    bound = shape[-1] ** -0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))
