"""Additive attention in differentiable torch: the CPU path, and the twin of a fused kernel."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.attend import attend
from regard.attention.deferred import Opened
from regard.attention.once import once


def additive_scores(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = v · tanh(W_s s_t + W_h h_s)`, both projections already done."""
    if type(keys) is Opened and torch.is_grad_enabled():
        scores: Tensor = _Scores.apply(query_projected, keys.as_subclass(Tensor), v.to(query_projected.dtype))  # type: ignore[no-untyped-call]
        return scores
    energy = query_projected.unsqueeze(-2) + keys.unsqueeze(-3)
    # A step that nobody differentiates may overwrite what it has.
    return (torch.tanh(energy) if torch.is_grad_enabled() else quick_tanh_(energy)) @ v


def quick_tanh_(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """tanh x = 2σ(2x) - 1, in place: torch's CPU sigmoid is vectorised, its tanh is six times slower (docs/log.md).

    Half precision takes the way through float32: near ½ its sigmoid has no digits left for a small x.
    """
    if x.device.type != "cpu":
        return x.tanh_()
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    wide.mul_(2).sigmoid_().mul_(2).sub_(1)
    return x if wide is x else x.copy_(wide)


class _Scores(torch.autograd.Function):
    """A step of a loop, E = tanh(q + k): few operations, and E is all that is kept of it.

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
        # A column, not a vector: that is slower in half precision.
        return (energy.reshape(-1, len(v)) @ v[:, None]).view(energy.shape[:-1])

    @staticmethod
    @once
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        energy, v = ctx.saved_tensors
        d_v = torch.mv(energy.reshape(-1, len(v)).t(), gradient.reshape(-1))
        slope = torch.addcmul(energy.new_ones(()), energy, energy, value=-1)
        d_query = (gradient.unsqueeze(-2) @ slope).squeeze(-2).mul_(v)
        d_keys = slope.mul_(gradient.unsqueeze(-1)).sum(dim=-3).mul_(v)
        return d_query.to(ctx.kinds[0]), d_keys.to(ctx.kinds[1]), d_v


def additive_attention(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch target source"],
    gaussian: Float[Tensor, "*#batch target source"] | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights of additive attention over projected queries and keys."""
    return attend(additive_scores(query_projected, keys, v), values, mask, gaussian)
