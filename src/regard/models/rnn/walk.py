"""A module's loop run on other weights than its own: opened ones, so that each gradient is one product at the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn
from torch.nn.modules.module import _has_any_global_hook

from regard.attention.deferred import opened
from regard.attention.local.module import LocalP
from regard.attention.plain import plain_wanted
from regard.attention.window import GlobalWindow

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


def watched(module: object) -> bool:
    """Whether it must be called itself, each time: somebody's hooks want to see it, or it has a `forward` put on it."""
    if not isinstance(module, nn.Module):
        return False
    return bool(_has_any_global_hook()) or any(  # type: ignore[no-untyped-call]
        one._forward_hooks
        or one._forward_pre_hooks
        or one._backward_hooks
        or one._backward_pre_hooks
        or "forward" in one.__dict__
        for one in module.modules()
    )


def steps_alike(decoder: nn.Module) -> bool:
    """Whether every step launches the same work, whichever its number: our attention, nothing random, nobody watching.

    A window that moves with the steps (local-m) is placed by their number.
    """
    attention = getattr(decoder, "attention", None)
    still = type(getattr(attention, "window", None)) in (GlobalWindow, LocalP, type(None))
    return ours(attention) and still and not (plain_wanted() or decoder.training or watched(decoder))


def ours(attention: object) -> bool:
    """Whether a mechanism and its window are of this package: for the same shapes they do the same work every time."""
    window = getattr(attention, "window", None)
    parts = (attention,) if window is None else (attention, window)
    return all(type(part).__module__.startswith("regard.") for part in parts)
