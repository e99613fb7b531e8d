"""Runs a function of a module on other weights than the module's own: weights with deferred gradients, or leaves.

The module itself is not changed, because other threads may be using it: the function gets a shallow copy.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from regard.fast.recurrent.deferred_gradient import deferred
from regard.torch_private import copy_on_parameters

DEFERRED = 2**18
"""Elements of the largest weight from which deferring pays on a CPU; below, recording costs as much as it saves."""

Loop = Callable[..., tuple[Tensor, ...]]
"""A function of a module and of tensors: the same work for the same shapes."""


def deferring_pays(weights: Iterable[Tensor]) -> bool:
    """Whether one product after the loop is faster than one at each step."""
    return any(x.device.type == "cuda" or x.numel() >= DEFERRED for x in weights)


def run_with_weights(
    loop: Loop,
    module: nn.Module,
    weights: Mapping[str, Tensor | None],
    given: Sequence[Tensor | None],
    position: int = 0,
    *,
    once: bool = False,
) -> tuple[Tensor, ...]:
    """`loop(module, *given, position)` with these weights in place of the parameters of the same names.

    `once`: every weight is used in one product, so deferring its gradient gains nothing.
    """
    present = {name: x for name, x in weights.items() if x is not None}
    pays = not once and deferring_pays(present.values())
    own = dict(module.named_parameters())
    others = {id(own[name]): deferred(x) if pays and x.dim() == 2 else x for name, x in present.items()}
    before = {one: dict(one.__dict__) for one in module.modules()}
    copies = copy_on_parameters(module, others)
    results = loop(copies[module], *given, position)
    for original, copy in copies.items():
        _return_attributes(original, copy, before[original])
    return results


def _return_attributes(module: nn.Module, copy: nn.Module, before: Mapping[str, Any]) -> None:
    """Moves attributes that a user's mechanism has set on the copy while it ran to the module itself."""
    if isinstance(module, nn.RNNBase):  # its attributes include its weights
        return
    for name, value in copy.__dict__.items():
        if name not in ("_parameters", "_modules") and (name not in before or value is not before[name]):
            module.__dict__[name] = value
