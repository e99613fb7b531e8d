"""A module's loop run on other weights than its own: opened ones, so that each gradient is one product at the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor, nn
from torch.func import functional_call

from regard.attention.deferred import opened

WORTH = 2**18
"""Numbers in the largest weight from which opening pays on a CPU; below, a step's bookkeeping costs what it saves."""


@runtime_checkable
class Walker(Protocol):
    """A module with a loop: from tensors to tensors, the same work for the same shapes, nothing random."""

    walk: Callable[..., tuple[Tensor, ...]]


def walk(
    module: nn.Module, weights: Mapping[str, Tensor | None], given: Sequence[Tensor | None], position: int = 0
) -> tuple[Tensor, ...]:
    """`module.walk(*given)` with these weights in the place of the parameters of their names."""
    there = {f"module.{name}": x for name, x in weights.items() if x is not None}
    pays = any(x.device.type == "cpu" and x.numel() >= WORTH for x in there.values())
    named = {name: opened(x) if pays and x.dim() == 2 else x for name, x in there.items()}
    results: tuple[Tensor, ...] = functional_call(_Caller(module), named, (*given, position))
    return results


class _Caller(nn.Module):
    """Calls a module's `walk`, so that `functional_call` can put other parameters in."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *given: Tensor | int | None) -> tuple[Tensor, ...]:
        assert isinstance(self.module, Walker)
        return self.module.walk(*given)
