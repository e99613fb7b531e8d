"""The form of a test case for the law in `test_law.py`: a problem for which dispatch must choose a given entry.

Each folder beside this file has a `cases.py` (and others that end so) with a list CASES; every entry of the registry
needs at least one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np
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
    """The floating-point numbers of a result as tensors, in a fixed order; a sequence of floats is one tensor."""
    if isinstance(result, np.ndarray | np.generic | float):
        result = torch.from_numpy(np.asarray(result))  # a float in float64
    if isinstance(result, Tensor):
        if result.is_floating_point():
            yield result
    elif isinstance(result, tuple | list) and result and all(isinstance(one, float) for one in result):
        yield torch.tensor(result, dtype=torch.float64)
    else:
        for one in parts(result):
            yield from tensors(one)


def discrete(result: Any) -> Any:
    """The rest of a result: token ids, flags, texts and lengths, which must be equal."""
    if isinstance(result, np.ndarray | np.generic | float):
        result = torch.from_numpy(np.asarray(result))
    if isinstance(result, Tensor):
        return None if result.is_floating_point() else result.tolist()
    if isinstance(result, int | str | None):
        return result
    if isinstance(result, Mapping):
        return {key: discrete(one) for key, one in result.items()}
    return [discrete(one) for one in parts(result)]


def parts(result: Any) -> list[Any]:
    """The members of a dataclass, mapping, tuple or list; anything else would not be compared, so it is an error."""
    if is_dataclass(result) and not isinstance(result, type):
        return [getattr(result, one.name) for one in fields(result)]
    if isinstance(result, Mapping):
        return [result[key] for key in sorted(result)]
    if isinstance(result, tuple | list):
        return list(result)
    if result is None or isinstance(result, int | str):
        return []
    raise TypeError(f"the law does not compare a {type(result).__name__}")
