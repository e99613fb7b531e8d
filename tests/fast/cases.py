"""The form of a test case for the law in `test_law.py`: a problem for which dispatch must choose a given entry.

Each folder beside this file has a `cases.py` (and others that end so) with a list CASES; every entry of the registry
needs at least one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import torch
from torch import Tensor


@dataclass(frozen=True)
class Problem:
    """A call to make `calls` times, and the tensors whose gradients are compared."""

    run: Callable[[], Any]
    leaves: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """`problem(device, dtype)` must be deterministic: the same numbers, rounded to the dtype, at every call.

    where: "cpu"; "kernels": a GPU, or Triton's interpreter on the CPU; "cuda": a GPU only.
    """

    entry: str
    name: str
    problem: Callable[[torch.device, torch.dtype], Problem]
    where: Literal["cpu", "kernels", "cuda"] = "cpu"
    dtypes: tuple[torch.dtype, ...] = (torch.float64,)
    calls: int = 3
    """Graphs are captured at the second call; 1 is enough for an entry that captures nothing and is slow to test."""

    def __str__(self) -> str:
        return f"{self.entry}: {self.name}"


def tensors(result: Any) -> Iterator[Tensor]:
    """The floating-point tensors of a result made of dataclasses, tuples, lists and mappings, in a fixed order."""
    if isinstance(result, Tensor):
        if result.is_floating_point():
            yield result
    elif is_dataclass(result) and not isinstance(result, type):
        for one in fields(result):
            yield from tensors(getattr(result, one.name))
    elif isinstance(result, Mapping):
        for key in sorted(result):
            yield from tensors(result[key])
    elif isinstance(result, tuple | list):
        for one in result:
            yield from tensors(one)


def discrete(result: Any) -> Any:
    """The rest of a result: token ids, flags and texts, which must be equal."""
    if isinstance(result, Tensor):
        return None if result.is_floating_point() else result.tolist()
    if isinstance(result, float):
        return None
    if is_dataclass(result) and not isinstance(result, type):
        return [discrete(getattr(result, one.name)) for one in fields(result)]
    if isinstance(result, Mapping):
        return {key: discrete(one) for key, one in result.items()}
    if isinstance(result, tuple | list):
        return [discrete(one) for one in result]
    return result if isinstance(result, int | str | None) else None
