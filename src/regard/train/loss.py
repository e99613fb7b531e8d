"""Cross-entropy over the real words of a batch."""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from regard.data.batch import Batch
from regard.models.seq2seq import Seq2Seq
from regard.text.special import PAD


def batch_loss(
    model: Seq2Seq, batch: Batch, *, smoothing: float = 0.0, forced: Bool[Tensor, " target"] | None = None
) -> Float[Tensor, ""]:
    """The SUM over target words, EOS included: the caller divides by the words of all batches in the step.

    Padded positions are dropped before the output layer, the widest product of the model.
    """
    decoded = model(batch, batch.target_in, forced=forced)
    wanted = batch.target_out
    real = wanted != PAD
    return F.cross_entropy(
        model.logits(decoded.features[real]).float(), wanted[real], label_smoothing=smoothing, reduction="sum"
    )
