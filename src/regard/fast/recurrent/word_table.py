"""W e + b of every word in a batch by table look-up: pays where the vocabulary is small, as for letters or digits.

The product with all embeddings has as many rows as the vocabulary, the product with the words of a batch as many as the
batch: 51 instead of 832 for the tutorial's model, forward and twice backward.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from regard.fast.precision import linear
from regard.registry import Refusal, replaceable, replaces


@replaceable
def word_gates(
    embedding: nn.Embedding,
    dropout: nn.Module,
    words: Int[Tensor, "*words"],
    embedded: Float[Tensor, "*words width"],
    weight: Float[Tensor, "out width"],
    bias: Float[Tensor, " out"],
) -> Float[Tensor, "*words out"]:
    """W e + b, where `embedded` is dropout(embedding(words))."""
    return linear(embedded, weight, bias)


def _unfit(
    embedding: nn.Embedding, dropout: nn.Module, words: Tensor, embedded: Tensor, weight: Tensor, bias: Tensor
) -> Refusal:
    if 2 * embedding.num_embeddings > words.numel():
        return "the vocabulary is larger than half of the batch"
    if words.device.type != "cpu" or not torch.is_grad_enabled():
        return "gains only where gradients are computed on a CPU"
    unusual = embedding.max_norm or embedding.sparse or embedding.scale_grad_by_freq
    if type(embedding) is not nn.Embedding or unusual:
        return "not a plain nn.Embedding"
    if type(dropout) is not nn.Dropout or (dropout.training and dropout.p):
        return "dropout on embeddings is active, or is not torch's nn.Dropout"
    return None


def _bypassed(embedding: nn.Embedding, dropout: nn.Module, *_: Tensor) -> tuple[nn.Module, nn.Module]:
    return embedding, dropout


@replaces(word_gates, unless=_unfit, bypasses=_bypassed)
def word_table(
    embedding: nn.Embedding, dropout: nn.Module, words: Tensor, embedded: Tensor, weight: Tensor, bias: Tensor
) -> Tensor:
    """One product with all embeddings, then a look-up; the embedding of padding gets no gradient, as in torch's own."""
    rows, padding = embedding.weight, embedding.padding_idx
    if padding is not None:
        rows = torch.cat([rows[:padding], rows[padding : padding + 1].detach(), rows[padding + 1 :]])
    with torch.autocast(words.device.type, enabled=False):  # gradients of a word are summed: not in half precision
        table = functional.linear(rows, weight, bias)
    return table.index_select(0, words.reshape(-1)).view(*words.shape, -1)
