"""Embeddings looked up, and their gradient on a GPU, which torch adds up by sorting the words, in a dozen launches.

Adding each row at its place is one launch and a sixth of the time, but rows of one word come in any order: where the
same bits are wanted every time (`torch.use_deterministic_algorithms`) torch's own gradient stays.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.once import once
from regard.attention.plain import plain_wanted
from regard.models.custom import watched


def look_up(embedding: nn.Embedding, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words width"]:
    """`embedding(words)`."""
    found: Tensor
    if adds(embedding, words):
        found = _LookUp.apply(embedding.weight, words, embedding.padding_idx)  # type: ignore[no-untyped-call]
    else:
        found = embedding(words)
    return found


def adds(embedding: nn.Embedding, words: Tensor) -> bool:
    """Whether the gradient may be added up at its place: on a GPU, in any order."""
    if words.device.type != "cuda" or not torch.is_grad_enabled() or torch.are_deterministic_algorithms_enabled():
        return False
    return ordinary(embedding) and not (plain_wanted() or torch.compiler.is_compiling())


def ordinary(embedding: nn.Embedding) -> bool:
    """Whether rows of its weight, and gradients added to them, are all there is to it; else it wants to be called."""
    unusual = embedding.max_norm or embedding.sparse or embedding.scale_grad_by_freq
    return type(embedding) is nn.Embedding and not (unusual or watched(embedding))


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, words: Tensor, padding: int | None) -> Tensor:
        ctx.save_for_backward(words)
        ctx.shape, ctx.padding = weight.shape, padding
        return functional.embedding(words, weight)

    @staticmethod
    @once
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (words,) = ctx.saved_tensors
        total = gradient.new_zeros(ctx.shape)
        total.index_add_(0, words.reshape(-1), gradient.reshape(-1, ctx.shape[1]))
        if ctx.padding is not None:
            total[ctx.padding] = 0.0
        return total, None, None
