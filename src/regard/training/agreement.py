"""Two readings of one batch with different dropout should say the same: R-Drop (Liang et al. 2021)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


def agreeing_cross_entropy(
    features: Float[Tensor, "both_readings width"],
    weight: Float[Tensor, "vocabulary width"],
    bias: Float[Tensor, " vocabulary"],
    wanted: Int[Tensor, " words"],
    smoothing: float,
    scale: float,
    agreement: float,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """As `linear_cross_entropy` of both readings' mean, and the price of what they disagree about: two sums over words.

    objective = ½ (L₁ + L₂) + agreement · ½ (KL(p₁‖p₂) + KL(p₂‖p₁))      equation 4 with α = 2 · agreement, halved

    The first half of the rows is one reading of the words, the second the other. All logits are there at once.
    """
    logits = functional.linear(features, weight, bias)
    logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    one, other = logs.chunk(2)
    said = -0.5 * (one + other).gather(-1, wanted[:, None]).sum()
    even = -0.5 * (one + other).mean(-1).sum()
    # KL(p₁‖p₂) + KL(p₂‖p₁) = Σ (p₁ - p₂) (log p₁ - log p₂)
    apart = 0.5 * ((one.exp() - other.exp()) * (one - other)).sum()
    objective = (1 - smoothing) * said + smoothing * even + agreement * apart
    return scale * objective, said.detach()
