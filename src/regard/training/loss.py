"""Cross-entropy over the real words of a batch: what training minimises, and what people are told."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.data.batch import Batch
from regard.models.cross_entropy import linear_cross_entropy
from regard.models.seq2seq import Seq2Seq
from regard.text.special import PAD
from regard.training.agreement import agreeing_cross_entropy
from regard.training.attention_loss import attention_loss


class Losses(NamedTuple):
    """SUMS over target words, EOS included: the caller divides by the words of all batches in the step."""

    objective: Float[Tensor, ""]
    """What is minimised, label smoothing included; times `scale`."""
    log_loss: Float[Tensor, ""]
    """-log p(word), the negative log-likelihood: what a validation measures too; carries no gradient."""


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

    Padded positions are dropped before the output layer, the widest product of the model: `places` says which remain,
    where it is known already; finding it out on a GPU would wait for the GPU. `scale` multiplies the objective, and its
    gradients where they arise: a mean that is taken afterwards costs one pass more over the largest of them.
    With `agreement` the batch is read twice, each time with its own dropout; see `agreement.py`.
    """
    if places is None:
        places = real_places(batch.target_out)
    wanted, layer = batch.target_out.flatten().index_select(0, places), model.output
    if agreement:
        places, batch = torch.cat([places, places + batch.target_out.numel()]), batch.twice()
    decoded = model(batch, batch.target_in, forced=forced, want_weights=batch.guidance is not None)
    features = decoded.features.flatten(0, 1)
    if len(places) < len(features):  # a full batch has nothing to drop
        features = features.index_select(0, places)
    features = model.before_output(features)
    given = (features, layer.weight, layer.bias, wanted, smoothing, scale)
    objective, log_loss = agreeing_cross_entropy(*given, agreement) if agreement else linear_cross_entropy(*given)
    if batch.guidance is not None and decoded.weights is not None:
        readings = 2 if agreement else 1
        objective = objective + scale / readings * attention_loss(decoded.weights, batch, batch.guidance)
    return Losses(objective, log_loss)


def real_places(target_out: Int[Tensor, "batch target"]) -> Int[Tensor, " words"]:
    """Which positions hold words, counted along the rows."""
    return (target_out != PAD).flatten().nonzero()[:, 0]
