"""Additive scores of one step without kernels: in place where no gradient is needed, and in a training loop."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.additive.functional import additive_scores
from regard.fast.cpu.quick_tanh import quick_tanh_
from regard.fast.first_order import first_order_only
from regard.fast.recurrent.deferred_gradient import DeferredGradient
from regard.registry import Refusal, replaces


def _no_loop(query_projected: Tensor, keys: Tensor, v: Tensor) -> Refusal:
    if type(keys) is not DeferredGradient:
        return "the keys are not those of a training loop"
    return None if torch.is_grad_enabled() else "no gradients are computed"


@replaces(additive_scores, unless=_no_loop)
def additive_scores_in_loop(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """Scores with a hand-written gradient that keeps only the tanh."""
    scores: Tensor = _Scores.apply(query_projected, keys.as_subclass(Tensor), v.to(query_projected.dtype))  # type: ignore[no-untyped-call]
    return scores


def _differentiated(query_projected: Tensor, keys: Tensor, v: Tensor) -> Refusal:
    return "gradients are computed" if torch.is_grad_enabled() else None


@replaces(additive_scores, unless=_differentiated)
def additive_scores_in_place(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """Scores whose tanh overwrites its argument."""
    return quick_tanh_(query_projected.unsqueeze(-2) + keys.unsqueeze(-3)) @ v


class _Scores(torch.autograd.Function):
    """One step of a loop, E = tanh(q + k): few operations, and only E is kept for the backward pass.

    δq = v ∘ Σ_s δe_s (1 - E_s²)     δk_s = v ∘ δe_s (1 - E_s²)     δv = Σ_s δe_s E_s
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
        energy = quick_tanh_(query.unsqueeze(-2) + keys.unsqueeze(-3))
        v = v.to(energy.dtype)
        ctx.save_for_backward(energy, v)
        ctx.kinds = query.dtype, keys.dtype
        if energy.device.type != "cpu":
            return energy @ v
        # A matrix of one column: the product with a vector is slower in half precision.
        return (energy.reshape(-1, len(v)) @ v[:, None]).view(energy.shape[:-1])

    @staticmethod
    @first_order_only
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        energy, v = ctx.saved_tensors
        d_v = torch.mv(energy.reshape(-1, len(v)).t(), gradient.reshape(-1))
        slope = torch.addcmul(energy.new_ones(()), energy, energy, value=-1)
        d_query = (gradient.unsqueeze(-2) @ slope).squeeze(-2).mul_(v)
        d_keys = slope.mul_(gradient.unsqueeze(-1)).sum(dim=-3).mul_(v)
        return d_query.to(ctx.kinds[0]), d_keys.to(ctx.kinds[1]), d_v
