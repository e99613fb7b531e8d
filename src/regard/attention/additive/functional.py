"""Additive attention in differentiable torch."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.attention.attend import attend
from regard.registry import replaceable


@replaceable
def additive_scores(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
) -> Float[Tensor, "*batch target source"]:
    """`e_ts = v · tanh(W_s s_t + W_h h_s)`, both projections already done."""
    return torch.tanh(query_projected.unsqueeze(-2) + keys.unsqueeze(-3)) @ v


def additive_attention(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*#batch #target source"],
    gaussian: Float[Tensor, "*#batch #target source"] | None = None,
    *,
    deterministic: bool | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """Context and weights of additive attention over projected queries and keys (Bahdanau 2014, A.1.2).

    For models of your own with all queries at once; regard's decoder calls `BahdanauAttention`, step by step.
    The mask is True at the positions that a query sees: real ones, inside the window if there is one. A query that
    sees no position gets zeros; keys and values that no query sees never affect the result, not even if they are
    NaN. `gaussian` multiplies the weights after the softmax (local-p). `deterministic=True` requests the same bits at
    every call, forward and backward; the default follows `torch.use_deterministic_algorithms`.
    """
    _check(query_projected, keys, v, values, mask, gaussian)
    shape = (*query_projected.shape[:-1], keys.shape[-2])
    mask, gaussian = mask.expand(shape), None if gaussian is None else gaussian.expand(shape)
    return attend_additive(query_projected, keys, v, values, mask, gaussian, deterministic=deterministic)


@replaceable
def attend_additive(
    query_projected: Float[Tensor, "*batch target width"],
    keys: Float[Tensor, "*batch source width"],
    v: Float[Tensor, " width"],
    values: Float[Tensor, "*batch source value"],
    mask: Bool[Tensor, "*batch target source"],
    gaussian: Float[Tensor, "*batch target source"] | None = None,
    *,
    deterministic: bool | None = None,
) -> tuple[Float[Tensor, "*batch target value"], Float[Tensor, "*batch target source"]]:
    """`additive_attention` without the checks of its arguments."""
    seen = mask.any(dim=-2)[..., None]
    keys, values = torch.where(seen, keys, 0.0), torch.where(seen, values, 0.0)
    return attend(additive_scores(query_projected, keys, v), values, mask, gaussian)


def _check(query: Any, keys: Any, v: Any, values: Any, mask: Any, gaussian: Any) -> None:
    """Raise if an argument is not a tensor or its shape does not fit the queries."""
    given = {"query_projected": query, "keys": keys, "v": v, "values": values, "mask": mask, "gaussian": gaussian}
    for name, one in given.items():
        if not isinstance(one, Tensor) and not (name == "gaussian" and one is None):
            raise TypeError(f"additive_attention: {name} is a {type(one).__name__}, but it must be a tensor")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"additive_attention: mask is {mask.dtype}, but it must be torch.bool, True at visible positions"
        )
    wanted: dict[str, Any]
    if query.dim() < 2 or keys.dim() < 2 or values.dim() < 1:
        wanted = {"query_projected": "[..., target, width]", "keys": "[..., source, width]"}
    else:
        (*lead, target, width), source = query.shape, keys.shape[-2]
        wanted = {"keys": [*lead, source, width], "v": [width], "values": [*lead, source, *values.shape[-1:]]}
        wanted = {name: shape for name, shape in wanted.items() if list(given[name].shape) != shape}
        for name in ("mask", "gaussian"):
            if given[name] is not None and not _expands(given[name].shape, (*lead, target, source)):
                wanted[name] = [*lead, target, source]
    if wanted:
        wrong = "; ".join(f"{name} is {list(given[name].shape)} and must be {shape}" for name, shape in wanted.items())
        raise ValueError(f"additive_attention: for queries of shape {list(query.shape)}, {wrong}")


def _expands(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a mask of this shape can be expanded to the expected one; its source axis must be complete."""
    fits = zip(shape[::-1], wanted[::-1], strict=False)
    return 0 < len(shape) <= len(wanted) and shape[-1] == wanted[-1] and all(n in (1, size) for n, size in fits)
