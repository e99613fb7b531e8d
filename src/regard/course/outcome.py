"""What a call gave: its parts as plain arrays, the error it raised, the argument it spoiled; and how two differ."""

import copy
import dataclasses
import numbers
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family

CONTAINERS = (tuple, list, dict)


@dataclass(frozen=True)
class Leaf:
    """One array, number or plain value of an answer. `kind` is what a person would call its type."""

    name: str
    kind: str
    value: Any


@dataclass(frozen=True)
class Outcome:
    """Either `leaves` or `error`; `changed` names an argument that the call wrote into."""

    leaves: tuple[Leaf, ...] = ()
    error: BaseException | None = None
    changed: str | None = None


@dataclass(frozen=True)
class Difference:
    """The first thing in which an answer is not the wanted one."""

    kind: str
    """error, changed, type, shape, dtype or value."""
    headline: str
    yours: Leaf | None = None
    wanted: Leaf | None = None

    @property
    def visible(self) -> bool:
        """Whether three printed digits show it, or, of shapes, which axis is meant: axes of 1 look all alike."""
        if self.yours is None or self.wanted is None:
            return True
        if self.kind == "shape":
            return 1 not in (*self.yours.value.shape, *self.wanted.value.shape)
        if self.kind != "value":
            return True
        if not isinstance(self.wanted.value, ndarray) or not self.wanted.value.size:
            return True
        mine, want = self.yours.value.astype(float), self.wanted.value.astype(float)
        with np.errstate(all="ignore"):
            gaps = np.abs(mine - want)
            return bool((~np.isfinite(gaps) | (gaps > 0.02 * (np.abs(mine) + np.abs(want)))).any())


def run(attempt: Attempt, family: Family, arguments: Arguments) -> Outcome:
    """Call the attempt with copies of the arguments."""
    given = copy.deepcopy(arguments)
    try:
        with quiet():
            if family.call is not None:
                answer = family.call(attempt, given)
            else:
                name = family.function or next(iter(attempt.functions))
                answer = attempt.functions[name](**given)
        leaves = flatten(answer, family.outputs)
    except BaseException as error:
        return Outcome(error=error)
    changed = next((name for name in arguments if not _unchanged(arguments[name], given[name])), None)
    return Outcome(leaves, changed=changed if family.pure else None)


@contextmanager
def quiet() -> Iterator[None]:
    """Overflow is judged by its result: NumPy's own warnings about it stay out of the way."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def flatten(answer: Any, names: tuple[str, ...] = (), name: str = "your answer") -> tuple[Leaf, ...]:
    """The parts of an answer, depth first; names of a tuple's parts, or of the one answer, as the author gave them."""
    if len(names) == 1 and not isinstance(answer, tuple):
        name, names = names[0], ()
    if isinstance(answer, tuple) and not names:
        names = tuple(getattr(answer, "_fields", ()))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        answer = {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    if isinstance(answer, list) and all(_is_plain(one) for one in answer):
        return (Leaf(name, "list", answer),)
    if isinstance(answer, CONTAINERS):
        head = Leaf(name, f"{type(answer).__name__} of {len(answer)}", None)
        return (head, *(leaf for key, part in _parts(answer, names) for leaf in flatten(part, (), key)))
    return (_leaf(answer, name),)


def difference(yours: Outcome, wanted: Outcome, tolerance: float | None = None) -> Difference | None:
    """None if the answers agree; the reference itself must not fail."""
    if wanted.error is not None:
        raise wanted.error
    if yours.error is not None:
        return Difference("error", "")
    for index, want in enumerate(wanted.leaves):
        mine = yours.leaves[index]
        found = _leaf_difference(mine, want, tolerance)
        if found is not None:
            return found
    if yours.changed:
        return Difference(
            "changed",
            f"Your answer is right, but your function wrote into its argument `{yours.changed}`: "
            f"whoever called it still needs the old values. Work on a copy.",
        )
    return None


def same(one: Outcome, other: Outcome, tolerance: float | None = None) -> bool:
    """Whether two calls behaved alike: both raised, or both gave equal values (NaN equals NaN)."""
    if one.error is not None or other.error is not None:
        return one.error is not None and other.error is not None
    if len(one.leaves) != len(other.leaves):
        return False
    return all(
        mine.kind == want.kind and _equal(mine.value, want.value, tolerance)
        for mine, want in zip(one.leaves, other.leaves, strict=True)
    )


def _leaf_difference(mine: Leaf, want: Leaf, tolerance: float | None) -> Difference | None:
    name = f"{want.name[0].upper()}{want.name[1:]}"
    if mine.kind != want.kind:
        if mine.kind == "nothing":
            return Difference("type", f"{name} is None: did you forget `return`?")
        return Difference("type", f"{name}: a {mine.kind}, wanted a {want.kind}.", mine, want)
    if not isinstance(want.value, ndarray):
        if _equal(mine.value, want.value, tolerance):
            return None
        return Difference("value", f"{name}: wrong.", mine, want)
    if mine.value.shape != want.value.shape:
        shapes = f"{list(mine.value.shape)}, wanted {list(want.value.shape)}"
        return Difference("shape", f"{name}: shape {shapes}.", mine, want)
    if mine.value.dtype != want.value.dtype:
        return Difference("dtype", f"{name}: dtype {mine.value.dtype}, wanted {want.value.dtype}.", mine, want)
    if not _equal(mine.value, want.value, tolerance):
        return Difference("value", f"{name}: wrong values.", mine, want)
    return None


def _equal(mine: Any, want: Any, tolerance: float | None) -> bool:
    if not isinstance(want, ndarray):
        if isinstance(want, float) and isinstance(mine, float):
            return bool(np.isclose(mine, want, rtol=tolerance or 1e-7, atol=tolerance or 1e-9, equal_nan=True))
        return bool(mine == want)
    if not isinstance(mine, ndarray) or mine.shape != want.shape:
        return False
    if want.dtype.kind != "f" or mine.dtype.kind != "f":
        return bool(np.array_equal(mine, want))
    coarse = min(np.finfo(mine.dtype).precision, np.finfo(want.dtype).precision) < 10
    relative = tolerance or (1e-4 if coarse else 1e-7)
    absolute = tolerance or (1e-5 if coarse else 1e-9)
    with np.errstate(all="ignore"):
        return bool(np.allclose(mine, want, rtol=relative, atol=absolute, equal_nan=True))


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
        return Leaf(
            name, "NumPy array" if type(value) is ndarray else f"NumPy {type(value).__name__}", np.asarray(value)
        )
    if hasattr(value, "detach"):
        plain = value.detach().cpu()
        return Leaf(name, "tensor", (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy())
    if isinstance(value, bool | np.bool_):
        return Leaf(name, "truth value", bool(value))
    if isinstance(value, numbers.Real | np.number):
        return Leaf(name, "number", float(value))
    return Leaf(name, type(value).__name__, value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_plain(one) for one in value)
    return value is None or isinstance(value, str | int | float)


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, ndarray) and isinstance(after, ndarray):
        return before.shape == after.shape and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if hasattr(before, "detach") and hasattr(after, "detach"):
        return _unchanged(before.detach().cpu().numpy(), after.detach().cpu().numpy())
    return True
