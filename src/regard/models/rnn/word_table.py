"""W e + b of every word in a batch by looking it up: where words are letters or digits, few are ever different.

One product with all embeddings has as many rows as the vocabulary, one with the words of a batch as many as the batch:
51 instead of 832 for the tutorial's model, forward and twice backward.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.plain import plain_wanted
from regard.models.custom import watched
from regard.models.lookup import ordinary


def table_pays(embedding: nn.Embedding, words: Tensor) -> bool:
    """Whether the vocabulary is at most half of what learns on a CPU here."""
    small = 2 * embedding.num_embeddings <= words.numel() and words.device.type == "cpu"
    return small and torch.is_grad_enabled() and ordinary(embedding) and not plain_wanted()


def drops_nothing(dropout: nn.Module) -> bool:
    """Whether embeddings pass it as they are."""
    return type(dropout) is nn.Dropout and not (watched(dropout) or (dropout.training and dropout.p))


def by_table(
    embedding: nn.Embedding,
    words: Int[Tensor, "*words"],
    weight: Float[Tensor, "out width"],
    bias: Float[Tensor, " out"],
) -> Float[Tensor, "*words out"]:
    """`linear(embedding(words), weight, bias)`; the embedding of padding learns nothing, as in torch's own."""
    rows, padding = embedding.weight, embedding.padding_idx
    if padding is not None:
        rows = torch.cat([rows[:padding], rows[padding : padding + 1].detach(), rows[padding + 1 :]])
    with torch.autocast(words.device.type, enabled=False):  # gradients of a word are added up: not in half precision
        table = functional.linear(rows, weight, bias)
    return table.index_select(0, words.reshape(-1)).view(*words.shape, -1)
