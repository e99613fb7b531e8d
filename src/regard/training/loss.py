"""The training loss: cross-entropy with label smoothing, R-Drop, guided alignment and coverage."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from regard.data.batch import Batch
from regard.data.guidance import Guidance
from regard.models.cross_entropy import linear_cross_entropy
from regard.models.seq2seq import Seq2Seq
from regard.text.special import EOS, PAD

SMALLEST_WEIGHT = 1e-6
"""Attention weights are clamped to this before the logarithm: a local window gives exact zeros."""


class Losses(NamedTuple):
    """SUMS over target words, EOS included: the caller divides by the words of all batches in the step."""

    objective: Float[Tensor, ""]
    """The training objective, label smoothing included; times `scale`."""
    log_loss: Float[Tensor, ""]
    """-log p(word), the negative log-likelihood that the journal and validation report; carries no gradient."""


def batch_loss(
    model: Seq2Seq,
    batch: Batch,
    *,
    smoothing: float = 0.0,
    forced: Bool[Tensor, " target"] | None = None,
    scale: float = 1.0,
    places: Int[Tensor, " words"] | None = None,
    agreement: float = 0.0,
) -> Losses:
    """With label smoothing ε over V words (Szegedy et al. 2016, section 7): (1 - ε) · -log p(word) + ε · mean -log p.

    Padded positions are dropped before the output layer, the widest product of the model. `places` are the positions
    that remain; computing them on a GPU would need a device sync. `scale` multiplies the objective: scaling its
    gradients afterwards would cost another pass over the largest of them. With `agreement` (R-Drop) the batch goes
    through the model twice, each time with its own dropout.
    """
    if places is None:
        places = real_places(batch.target_out)
    wanted, layer = batch.target_out.flatten().index_select(0, places), model.output
    if agreement:
        places, batch = torch.cat([places, places + batch.target_out.numel()]), batch.twice()
    decoded = model(batch, batch.target_in, forced=forced, want_weights=batch.guidance is not None)
    features = decoded.features.flatten(0, 1)
    if len(places) < len(features):  # a full batch has no padding to drop
        features = features.index_select(0, places)
    features = model.before_output(features)
    given = (features, layer.weight, layer.bias, wanted, smoothing, scale)
    objective, log_loss = r_drop_cross_entropy(*given, agreement) if agreement else linear_cross_entropy(*given)
    if batch.guidance is not None and decoded.weights is not None:
        passes = 2 if agreement else 1
        objective = objective + scale / passes * attention_loss(decoded.weights, batch, batch.guidance)
    return Losses(objective, log_loss)


def real_places(target_out: Int[Tensor, "batch target"]) -> Int[Tensor, " words"]:
    """The positions of the flattened batch that are not padding."""
    return (target_out != PAD).flatten().nonzero()[:, 0]


def r_drop_cross_entropy(
    features: Float[Tensor, "both_passes width"],
    weight: Float[Tensor, "vocabulary width"],
    bias: Float[Tensor, " vocabulary"],
    wanted: Int[Tensor, " words"],
    smoothing: float,
    scale: float,
    agreement: float,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """R-Drop (Liang et al. 2021): two passes with different dropout should predict the same distribution.

    objective = ½ (L₁ + L₂) + agreement · ½ (KL(p₁‖p₂) + KL(p₂‖p₁))      half of equation 4 with α = 2 · agreement

    The first half of the rows is one pass over the words, the second half the other. Returns sums over words, as
    `linear_cross_entropy` does, but holds all logits in memory.
    """
    logits = functional.linear(features, weight, bias)
    logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    one, other = logs.chunk(2)
    log_loss = -0.5 * (one + other).gather(-1, wanted[:, None]).sum()
    uniform = -0.5 * (one + other).mean(-1).sum()
    # KL(p₁‖p₂) + KL(p₂‖p₁) = Σ (p₁ - p₂) (log p₁ - log p₂)
    divergence = 0.5 * ((one.exp() - other.exp()) * (one - other)).sum()
    objective = (1 - smoothing) * log_loss + smoothing * uniform + agreement * divergence
    return scale * objective, log_loss.detach()


def attention_loss(
    weights: Float[Tensor, "batch layer head target source"], batch: Batch, guidance: Guidance[Tensor]
) -> Float[Tensor, ""]:
    """A SUM like the other losses: guided alignment (Chen et al. 2016, eq. 8) and coverage (Xu et al. 2015, eq. 14).

    guide:     weight · Σ_t -Σ_s g_ts ln α_ts      g_t is uniform over the pieces linked to step t
    coverage:  coverage · Σ_s (1 - Σ_t ᾱ_ts)²      ᾱ is the mean over layers and heads; s is any piece but EOS
    """
    total = weights.new_zeros((), dtype=torch.promote_types(weights.dtype, torch.float32))
    if guidance.links is not None and guidance.weight:
        attention = weights[:, guidance.layer, guidance.head].to(total.dtype).clamp(min=SMALLEST_WEIGHT)
        links = guidance.links.to(total.dtype)
        wanted = links / links.sum(dim=-1, keepdim=True).clamp(min=1)
        total = total - guidance.weight * (wanted * attention.log()).sum()
    if guidance.coverage:
        real = (batch.target_out != PAD)[:, :, None]
        seen = (weights.mean(dim=(1, 2)).to(total.dtype) * real).sum(dim=1)
        counted = (batch.source != PAD) & (batch.source != EOS)
        total = total + guidance.coverage * ((1 - seen).square() * counted).sum()
    return total
