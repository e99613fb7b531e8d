"""Embedding look-up whose gradient on a GPU is one `index_add_`.

torch sorts the words to add up their gradients, in a dozen launches; adding each row in place is one launch and takes a
sixth of the time. The order of additions is not fixed, so with `torch.use_deterministic_algorithms` torch's own
gradient stays.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.fast.first_order import first_order_only
from regard.models.embedding import look_up
from regard.registry import Refusal, replaces


def ordinary(embedding: nn.Embedding) -> bool:
    """Whether the embedding only selects rows of its weight: no subclass, norm limit, sparse or scaled gradients."""
    unusual = embedding.max_norm or embedding.sparse or embedding.scale_grad_by_freq
    return type(embedding) is nn.Embedding and not unusual


def _unfit(embedding: nn.Embedding, words: Tensor) -> Refusal:
    if words.device.type != "cuda":
        return "gains nothing on a CPU"
    if not torch.is_grad_enabled():
        return "no gradients are computed"
    if torch.are_deterministic_algorithms_enabled():
        return "the order of additions is not fixed, and deterministic algorithms are requested"
    return None if ordinary(embedding) else "not a plain nn.Embedding"


def _bypassed(embedding: nn.Embedding, words: Tensor) -> tuple[nn.Module, ...]:
    return (embedding,)


@replaces(look_up, unless=_unfit, bypasses=_bypassed)
def look_up_adding(embedding: nn.Embedding, words: Tensor) -> Tensor:
    """Rows of the weight, with a gradient that is added in place."""
    found: Tensor = _LookUp.apply(embedding.weight, words, embedding.padding_idx)  # type: ignore[no-untyped-call]
    return found


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, words: Tensor, padding: int | None) -> Tensor:
        ctx.save_for_backward(words)
        ctx.shape, ctx.padding = weight.shape, padding
        return functional.embedding(words, weight)

    @staticmethod
    @first_order_only
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (words,) = ctx.saved_tensors
        total = gradient.new_zeros(ctx.shape)
        total.index_add_(0, words.reshape(-1), gradient.reshape(-1, ctx.shape[1]))
        if ctx.padding is not None:
            total[ctx.padding] = 0.0
        return total, None, None
