"""Output layer and cross-entropy: the training loss from the features of real words."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from regard.registry import replaceable


@replaceable
def linear_cross_entropy(
    features: Float[Tensor, "rows width"],
    weight: Float[Tensor, "vocabulary width"],
    bias: Float[Tensor, " vocabulary"],
    wanted: Int[Tensor, " rows"],
    smoothing: float = 0.0,
    scale: float = 1.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Two sums over the rows: the loss with label smoothing, times `scale`, and -log p(wanted), without a gradient."""
    logits = functional.linear(features, weight, bias)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = functional.cross_entropy(logits, wanted, label_smoothing=smoothing, reduction="sum")
    return scale * loss, functional.cross_entropy(logits.detach(), wanted, reduction="sum")
