"""A module's loop run on other weights than its own: opened ones, so that each gradient is one product at the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from regard.attention.deferred import opened

WORTH = 2**18
"""Numbers in the largest weight from which opening pays on a CPU; below, a step's bookkeeping costs what it saves."""


@runtime_checkable
class Walker(Protocol):
    """A module with a loop: from tensors to tensors, the same work for the same shapes, nothing random."""

    walk: Callable[..., tuple[Tensor, ...]]


def walk(
    module: nn.Module,
    weights: Mapping[str, Tensor | None],
    given: Sequence[Tensor | None],
    position: int = 0,
    *,
    once: bool = False,
) -> tuple[Tensor, ...]:
    """`module.walk(*given)` with these weights in the place of the parameters of their names.

    `once`: every weight is multiplied with once, so there is nothing to gain from opening it.
    """
    there = {name: x for name, x in weights.items() if x is not None}
    pays = not once and any(x.device.type == "cuda" or x.numel() >= WORTH for x in there.values())
    own = dict(module.named_parameters())
    others = {id(own[name]): opened(x) if pays and x.dim() == 2 else x for name, x in there.items()}
    doubles: dict[nn.Module, nn.Module] = {}
    before = {one: dict(one.__dict__) for one in module.modules()}
    walker = _double(module, others, doubles)
    assert isinstance(walker, Walker)
    results = walker.walk(*given, position)
    for original, double in doubles.items():
        _take_notes(original, double, before[original])
    return results


def _double(module: nn.Module, others: Mapping[int, Tensor], doubles: dict[nn.Module, nn.Module]) -> nn.Module:
    """The module and those inside it once more, on other parameters: other threads may be using the first."""
    if module not in doubles:
        double = doubles[module] = module.__new__(type(module))
        parameters = {name: others.get(id(x), x) for name, x in module._parameters.items()}
        children = {name: x if x is None else _double(x, others, doubles) for name, x in module._modules.items()}
        double.__dict__ = {**module.__dict__, "_parameters": parameters, "_modules": children}
    return doubles[module]


def _take_notes(module: nn.Module, double: nn.Module, before: Mapping[str, Any]) -> None:
    """What somebody's mechanism wrote down on itself while it ran."""
    if isinstance(module, nn.RNNBase):  # its notes are its weights
        return
    for name, note in double.__dict__.items():
        if name not in ("_parameters", "_modules") and (name not in before or note is not before[name]):
            module.__dict__[name] = note
