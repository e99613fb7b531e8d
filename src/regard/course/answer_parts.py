"""An answer as a list of plain arrays, numbers and words; answers in another type than the wanted one are converted."""

import dataclasses
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

CONTAINERS = (tuple, list, dict)


@dataclass(frozen=True)
class Leaf:
    """One array, number or plain value of an answer. `kind` is what a person would call its type."""

    name: str
    kind: str
    value: Any


def flatten(answer: Any, names: tuple[str, ...] = (), name: str = "your answer") -> tuple[Leaf, ...]:
    """The parts of an answer, depth first; names of a tuple's parts, or of the one answer, as the author gave them."""
    if len(names) == 1 and not isinstance(answer, tuple):
        name, names = names[0], ()
    if isinstance(answer, tuple) and not names:
        names = tuple(getattr(answer, "_fields", ()))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        answer = {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    if isinstance(answer, list) and all(_is_plain(one) for one in answer):
        return (Leaf(name, "list", _unwrapped(answer)),)
    if isinstance(answer, CONTAINERS):
        kind = next(kind.__name__ for kind in CONTAINERS if isinstance(answer, kind))
        head = Leaf(name, f"{kind} of {len(answer)}", tuple(answer) if kind == "dict" else None)
        return (head, *(leaf for key, part in _parts(answer, names) for leaf in flatten(part, (), key)))
    return (_leaf(answer, name),)


def like_wanted(mine: Any, wanted: Any) -> Any:
    """`mine` in the type of `wanted` where only the type differs: lists for arrays and tuples, NumPy's own scalars."""
    if isinstance(wanted, ndarray) and isinstance(mine, list | tuple | numbers.Real | np.generic):
        several = isinstance(mine, tuple) and any(np.ndim(one) for one in mine if not hasattr(one, "detach"))
        array = None if several else _array(mine)
        return mine if array is None else array
    if isinstance(wanted, tuple | list) and isinstance(mine, tuple | list):
        if isinstance(mine, list | tuple) and len(mine) == len(wanted):
            parts = [like_wanted(one, want) for one, want in zip(mine, wanted, strict=True)]
            return tuple(parts) if isinstance(wanted, tuple) else parts
        return list(mine) if isinstance(wanted, list) else tuple(mine)
    if isinstance(wanted, list) and isinstance(mine, ndarray) and mine.ndim == 1:
        return mine.tolist()
    if isinstance(wanted, dict) and isinstance(mine, dict) and mine.keys() == wanted.keys():
        return {key: like_wanted(mine[key], wanted[key]) for key in wanted}
    if isinstance(wanted, set | frozenset) and isinstance(mine, set | frozenset):
        return set(mine)
    if isinstance(wanted, numbers.Real) and isinstance(mine, ndarray) and mine.ndim == 0:
        return mine.item()
    return mine


def _array(value: Any) -> ndarray | None:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        return None
    return array if array.dtype.kind in "biuf" and not _holds_tensors(value) else None


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensors(one) for one in value)
    return hasattr(value, "detach")


def _parts(answer: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if isinstance(answer, Mapping):
        yield from ((str(key), answer[key]) for key in answer)
        return
    for index, part in enumerate(answer):
        yield (names[index] if index < len(names) else f"part {index + 1}"), part


def _leaf(value: Any, name: str) -> Leaf:
    if value is None:
        return Leaf(name, "nothing", None)
    if isinstance(value, ndarray):
        kind = "NumPy array" if type(value) is ndarray else f"NumPy {type(value).__name__}"
        return Leaf(name, kind, np.asarray(value))
    if hasattr(value, "detach"):
        plain = value.detach().cpu()
        return Leaf(name, "tensor", (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy())
    if isinstance(value, bool | np.bool_):
        return Leaf(name, "truth value", bool(value))
    if isinstance(value, numbers.Real | np.number):
        return Leaf(name, "number", float(value))
    if isinstance(value, str):
        return Leaf(name, "str", str(value))
    return Leaf(name, type(value).__name__, value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_plain(one) for one in value)
    return value is None or isinstance(value, str | int | float | np.generic)


def _unwrapped(value: Any) -> Any:
    """NumPy's scalars as Python's, inside lists and tuples."""
    if isinstance(value, tuple | list):
        return type(value)(_unwrapped(one) for one in value) if type(value) in (tuple, list) else value
    return value.item() if isinstance(value, np.generic) else value
