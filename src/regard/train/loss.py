"""Cross-entropy over the real words of a batch: what training minimises, and what people are told."""

from typing import NamedTuple

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.text.special import PAD
from regard.train.attention_loss import attention_loss


class Losses(NamedTuple):
    """SUMS over target words, EOS included: the caller divides by the words of all batches in the step."""

    objective: Float[Tensor, ""]
    """What is minimised, label smoothing included."""
    log_loss: Float[Tensor, ""]
    """-log p(word), the negative log-likelihood: what a validation measures too; carries no gradient."""


def batch_loss(
    model: Seq2Seq, batch: Batch, *, smoothing: float = 0.0, forced: Bool[Tensor, " target"] | None = None
) -> Losses:
    """With label smoothing ε over V words (Szegedy et al. 2016, section 7): (1 - ε) · -log p(word) + ε · mean -log p.

    Padded positions are dropped before the output layer, the widest product of the model.
    """
    decoded = model(batch, batch.target_in, forced=forced, want_weights=batch.guidance is not None)
    wanted = batch.target_out
    real = wanted != PAD
    scores = F.log_softmax(model.logits(decoded.features[real]).float(), dim=-1)
    log_loss = F.nll_loss(scores, wanted[real], reduction="sum")
    objective = log_loss
    if smoothing:
        evenly = -scores.sum(dim=-1).sum()
        objective = (1 - smoothing) * log_loss + evenly * (smoothing / scores.size(1))
    if batch.guidance is not None and decoded.weights is not None:
        objective = objective + attention_loss(decoded.weights, batch, batch.guidance)
    return Losses(objective, log_loss.detach())
