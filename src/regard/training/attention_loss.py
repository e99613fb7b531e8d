"""What attention pays for looking elsewhere than it was told, and for leaving source words out."""

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batch import Batch
from regard.data.guidance import Guidance
from regard.text.special import EOS, PAD

LEAST = 1e-6
"""The weight whose logarithm is taken where attention is less: a local window gives exact zeros."""


def attention_loss(
    weights: Float[Tensor, "batch layer head target source"], batch: Batch, guidance: Guidance
) -> Float[Tensor, ""]:
    """A SUM like the other losses: guided alignment (Chen et al. 2016, eq. 8) and coverage (Xu et al. 2015, eq. 14).

    guide:     weight · Σ_t -Σ_s g_ts ln α_ts      g_t is even over the pieces linked to step t
    coverage:  coverage · Σ_s (1 - Σ_t ᾱ_ts)²      ᾱ is the mean over layers and heads; s is any piece but EOS
    """
    total = weights.new_zeros((), dtype=torch.promote_types(weights.dtype, torch.float32))
    if guidance.links is not None and guidance.weight:
        looks = weights[:, guidance.layer, guidance.head].to(total.dtype).clamp(min=LEAST)
        links = guidance.links.to(total.dtype)
        wanted = links / links.sum(dim=-1, keepdim=True).clamp(min=1)
        total = total - guidance.weight * (wanted * looks.log()).sum()
    if guidance.coverage:
        real = (batch.target_out != PAD)[:, :, None]
        seen = (weights.mean(dim=(1, 2)).to(total.dtype) * real).sum(dim=1)
        counted = (batch.source != PAD) & (batch.source != EOS)
        total = total + guidance.coverage * ((1 - seen).square() * counted).sum()
    return total
