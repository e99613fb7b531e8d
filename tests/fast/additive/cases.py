"""Problems for the accelerated implementations of additive attention."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from fast.cases import Case, Problem
from regard.attention import BahdanauAttention, LocalP, additive_attention
from regard.attention.additive.functional import additive_scores
from regard.fast.additive import fused

HALF = (torch.bfloat16, torch.float16)
FLOATS = (torch.float64, torch.float32, *HALF)
Sizes = tuple[int, int, int, int, int]
"""batch, target, source, width, value"""


def draw(device: torch.device, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Normal numbers that every dtype can represent."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).bfloat16().to(device, dtype) for shape in shapes]


def without_small(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A GPU runs the kernels for these small problems, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "SMALL", 0)
        return function(*args, **kwargs)


def attend(sizes: Sizes, gaussian: bool, deterministic: bool, device: torch.device, dtype: torch.dtype) -> Problem:
    """The first sentence has padding of NaN, the last query of the last sentence sees nothing."""
    batch, target, source, width, value = sizes
    shapes = (batch, target, width), (batch, source, width), (width,), (batch, source, value)
    query, keys, v, values = draw(device, dtype, *shapes)
    mask = torch.rand(batch, target, source, generator=torch.Generator().manual_seed(1)) > 0.3
    mask[:, :, 0], mask[-1, -1] = True, False
    if source > 2:
        mask[0, :, -2:] = False
    unseen = ~mask.any(dim=1).to(device)
    keys[unseen], values[unseen] = torch.nan, torch.inf
    leaves = {"query": query, "keys": keys, "v": v, "values": values}
    if gaussian:
        leaves["gaussian"] = draw(device, dtype, (batch, target, source))[0].abs()
    for leaf in leaves.values():
        leaf.requires_grad_()
    arguments = query, keys, v, values, mask.to(device), leaves.get("gaussian")
    return Problem(partial(without_small, additive_attention, *arguments, deterministic=deterministic), leaves)


def module(steps: int, window: bool, trains: bool, device: torch.device, dtype: torch.dtype) -> Problem:
    torch.manual_seed(0)
    attention = BahdanauAttention(5, 4, 7, window=LocalP(2, 5, 3) if window else None).to(device, dtype)
    states, query = draw(device, dtype, (3, 9, 4), (3, steps, 5))
    real = torch.arange(9, device=device) < torch.tensor([9, 3, 0], device=device)[:, None]
    states[~real] = torch.nan
    leaves = {**dict(attention.named_parameters()), "query": query.requires_grad_()} if trains else {}

    def run() -> Any:
        with torch.set_grad_enabled(trains):
            return without_small(attention, query, attention.prepare(states, real))

    return Problem(run, leaves)


def scores_in_place(steps: int, device: torch.device, dtype: torch.dtype) -> Problem:
    query, keys, v = draw(device, dtype, (2, steps, 9), (2, 5, 9), (9,))
    return Problem(lambda: torch.no_grad()(additive_scores)(query, keys, v))


ODD: dict[str, Sizes] = {
    "one key": (1, 5, 1, 3, 1),
    "a tile and a bit": (1, 17, 40, 8, 2),
    "two spans": (2, 5, 33, 70, 6),
    "long source": (1, 6, 140, 5, 3),
    "one query": (3, 1, 19, 66, 130),
    "four queries": (2, 4, 3, 2, 7),
}
FUSED, KERNELS, SINGLE = "attend_additive_fused", (torch.float32, *HALF), (torch.float32,)
CASES = [
    Case(FUSED, "small", partial(attend, (2, 6, 7, 9, 5), False, False), "kernels", KERNELS, 1),
    Case(FUSED, "small, with a Gaussian", partial(attend, (2, 6, 7, 9, 5), True, False), "kernels", KERNELS, 1),
    *(
        Case(FUSED, name, partial(attend, sizes, False, name == "two spans"), "kernels", SINGLE, 1)
        for name, sizes in ODD.items()
    ),
    Case("bahdanau_fused", "all steps", partial(module, 6, False, True), "kernels", SINGLE, 1),
    Case("bahdanau_fused", "local-p", partial(module, 5, True, True), "kernels", SINGLE, 1),
    Case("bahdanau_fused", "one step", partial(module, 1, True, False), "kernels", (torch.float32, torch.bfloat16), 1),
    Case("additive_scores_in_place", "one step", partial(scores_in_place, 1), dtypes=FLOATS),
    Case("additive_scores_in_place", "all steps", partial(scores_in_place, 4), dtypes=FLOATS),
]
