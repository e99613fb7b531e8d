"""The fixed vector in differentiable torch: the only output of an encoder without attention."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def summary(
    states: Float[Tensor, "batch source state"], real: Bool[Tensor, "batch source"], bidirectional: bool
) -> Float[Tensor, "batch state"]:
    """The state at the last real position; a bidirectional encoder's backward half comes from the first.

    A sentence without any real position is summarised by zeros.
    """
    batch, source, width = states.shape
    if source == 0:
        return states.new_zeros(batch, width)
    places = torch.arange(source, device=real.device)
    last = torch.where(real, places, 0).amax(dim=1)
    first = torch.where(real, places, source - 1).amin(dim=1)
    rows = torch.arange(batch, device=real.device)
    if bidirectional:
        forward, backward = states[rows, last, : width // 2], states[rows, first, width // 2 :]
        read = torch.cat([forward, backward], dim=-1)
    else:
        read = states[rows, last]
    return torch.where(real.any(dim=1, keepdim=True), read, 0.0)
