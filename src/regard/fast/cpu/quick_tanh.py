"""An in-place tanh that is faster than torch's on the CPU."""

import torch
from jaxtyping import Float
from torch import Tensor


def quick_tanh_(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """tanh x = 2σ(2x) - 1, in place: torch's CPU sigmoid is vectorised, its tanh is six times slower (docs/log.md).

    Half precision is computed in float32: near ½ a half-precision sigmoid has no digits left for a small x.
    """
    if x.device.type != "cpu":
        return x.tanh_()
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    wide.mul_(2).sigmoid_().mul_(2).sub_(1)
    return x if wide is x else x.copy_(wide)
