"""The result of a call: its parts as plain arrays, its error, an argument that it changed; how two results differ."""

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.answer_parts import Leaf, flatten, like_wanted
from regard.course.attempt import Attempt, default_dtype_of
from regard.course.exercise import Arguments, Family
from regard.course.return_paths import FORGOTTEN


@dataclass(frozen=True)
class Outcome:
    """Either an `answer` or an `error`; `changed` names an argument that the call wrote into."""

    answer: Any = None
    names: tuple[str, ...] = ()
    error: BaseException | None = None
    changed: str | None = None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return flatten(self.answer, self.names)

    def as_compared_with(self, wanted: "Outcome") -> tuple[Leaf, ...]:
        """The parts of this answer, in the wanted types where only the type differs."""
        return flatten(like_wanted(self.answer, wanted.answer), self.names)


@dataclass(frozen=True)
class Difference:
    """The first thing in which an answer is not the wanted one."""

    kind: str
    """error, changed, type, shape, dtype or value."""
    headline: str
    yours: Leaf | None = None
    wanted: Leaf | None = None
    missing_return: bool = False
    """Whether the answer as a whole is None, so that a `return` may be missing."""

    def like(self, other: "Difference") -> bool:
        """Whether the same part differs, in the same way."""
        names = [None if one.wanted is None else one.wanted.name for one in (self, other)]
        return self.kind == other.kind and names[0] == names[1]

    @property
    def visible(self) -> bool:
        """Whether a reader can see the difference: a number that is not finite or differs by more than 2 % of
        |yours| + |wanted|, or a shape without axes of size 1, which cannot be told apart; always for other kinds."""
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
        with quiet(), default_dtype_of(list(given.values())):
            if family.call is not None:
                answer = family.call(attempt, given)
            else:
                name = family.function or next(iter(attempt.functions))
                answer = attempt.functions[name](**given)
            flatten(answer, family.outputs)  # an answer of the learner's own making may raise here
    except (Exception, SystemExit) as error:
        return Outcome(error=error)
    changed = next((name for name in arguments if not _unchanged(arguments[name], given[name])), None)
    return Outcome(answer, family.outputs, changed=changed if family.pure else None)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppresses warnings, such as NumPy's about overflow: the result itself is compared."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def difference(
    yours: Outcome,
    wanted: Outcome,
    tolerance: float | None = None,
    exact_dtype: bool = False,
    causes: tuple[str, ...] = (),
) -> Difference | None:
    """None if the answers agree; the reference itself must not fail."""
    if wanted.error is not None:
        raise wanted.error
    if yours.error is not None:
        return Difference("error", "")
    found = first_difference(yours.as_compared_with(wanted), wanted.leaves, tolerance, exact_dtype, causes)
    if found is None and yours.changed:
        return Difference(
            "changed",
            f"Your answer is right, but your function wrote into its argument `{yours.changed}`: "
            f"the caller still needs the old values. Work on a copy.",
        )
    return found


def difference_of(family: Family, yours: Outcome, wanted: Outcome) -> Difference | None:
    """`difference` with the tolerance, the dtype rule and the order of causes that the family declares."""
    return difference(yours, wanted, family.tolerance, family.exact_dtype, family.causes)


def first_difference(
    mine: tuple[Leaf, ...],
    wanted: tuple[Leaf, ...],
    tolerance: float | None,
    exact_dtype: bool = False,
    causes: tuple[str, ...] = (),
) -> Difference | None:
    """Compares leaf by leaf; a container's own leaf precedes its parts, so a wrong number of parts is found first."""
    pairs = list(zip(mine, wanted, strict=False))
    if causes and len(mine) == len(wanted):
        pairs.sort(key=lambda pair: causes.index(pair[1].name) if pair[1].name in causes else -1)
    for one, want in pairs:
        found = _leaf_difference(one, want, tolerance, exact_dtype, len(mine) == 1)
        if found is not None:
            return found
    return None


def same(one: Outcome, other: Outcome, tolerance: float | None = None, exact_dtype: bool = False) -> bool:
    """Whether two calls had the same result: the same error and message, or equal values (NaN equals NaN)."""
    if one.error is not None and other.error is not None:
        return _type_and_message(one.error) == _type_and_message(other.error)
    if one.error is not None or other.error is not None:
        return False
    mine, want = one.as_compared_with(other), other.leaves
    if len(mine) != len(want) or one.changed != other.changed:
        return False
    return all(
        left.kind == right.kind
        and equal(left.value, right.value, tolerance)
        and _alike(getattr(left.value, "dtype", None), getattr(right.value, "dtype", None), exact_dtype)
        for left, right in zip(mine, want, strict=True)
    )


def _alike(one: Any, other: Any, exact: bool) -> bool:
    """Whether two dtypes count as one: floats of different precision do, unless the family is about the dtype."""
    return bool(one == other if exact or one is None or other is None else one.kind == other.kind)


def _type_and_message(error: BaseException) -> tuple[str, str]:
    try:
        return type(error).__name__, str(error)
    except Exception:
        return type(error).__name__, ""


def none_headline(part: Leaf, reason: str) -> str:
    """The headline of a difference where None was returned for a part of the answer."""
    return f"{_capitalised(part.name)} is None: {reason}"


def _capitalised(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _leaf_difference(
    mine: Leaf, want: Leaf, tolerance: float | None, exact_dtype: bool, top: bool
) -> Difference | None:
    name = _capitalised(want.name)
    if mine.kind != want.kind:
        if mine.kind == "nothing":
            reason = FORGOTTEN if top else f"wanted {_article(want.kind)}."
            return Difference("type", none_headline(want, reason), mine, want, missing_return=top)
        return Difference("type", _other_type(name, mine, want), mine, want)
    if not isinstance(want.value, ndarray):
        if equal(mine.value, want.value, tolerance):
            return None
        return Difference("value", f"{name}: wrong.", mine, want)
    if mine.value.shape != want.value.shape:
        shapes = f"{list(mine.value.shape)}, wanted {list(want.value.shape)}"
        return Difference("shape", f"{name}: shape {shapes}.", mine, want)
    kinds = mine.value.dtype.kind, want.value.dtype.kind
    if kinds[0] != kinds[1] or (exact_dtype and mine.value.dtype != want.value.dtype):
        return Difference("dtype", f"{name}: dtype {mine.value.dtype}, wanted {want.value.dtype}.", mine, want)
    if not equal(mine.value, want.value, tolerance):
        return Difference("value", f"{name}: wrong values.", mine, want)
    return None


TENSOR_REMEDY = {
    "number": "a plain number has no gradient: return the tensor, without .item() or float()",
    "NumPy array": "NumPy cuts the gradient: stay with torch",
    "list": "put the parts together, for instance with torch.stack",
}


def _other_type(name: str, mine: Leaf, want: Leaf) -> str:
    """What is returned and what is wanted, in a learner's words."""
    (first, _, mine_count), (second, _, want_count) = mine.kind.partition(" of "), want.kind.partition(" of ")
    if want.kind == "nothing":
        return f"{name}: {_article(first)}, but here the answer is None: there is nothing to count or to measure."
    if first == second == "tuple":
        return f"{name}: {mine_count} results, wanted {want_count}. Return each of them, and nothing else."
    if first == second == "dict":
        missing, extra = (
            ", ".join(str(key) for key in one.value if key not in other.value)
            for one, other in ((want, mine), (mine, want))
        )
        return f"{missing[0].upper()}{missing[1:]} is missing." if missing else f"There should be no {extra}."
    if first == second:
        return f"{name}: {mine_count} entries, wanted {want_count}."
    if second == "tensor":
        remedy = TENSOR_REMEDY.get("list" if first == "tuple" else first, "")
        return f"{name}: {_article(first)}, wanted a tensor{': ' if remedy else ''}{remedy}."
    if second == "tuple" or first == "tuple":
        results = f"{want_count} results in a tuple" if second == "tuple" else f"only {_article(second)}"
        given = f"a tuple of {mine_count} results" if first == "tuple" else f"a single result, {_article(first)}"
        return f"{name}: {given}, wanted {results}."
    return f"{name}: {_article(first)}, wanted {_article(second)}."


def _article(kind: str) -> str:
    return kind if kind == "nothing" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def equal(mine: Any, want: Any, tolerance: float | None = None) -> bool:
    """Exactly for whole numbers and text, within the coarser dtype's tolerance for floats."""
    if not isinstance(want, ndarray):
        if isinstance(want, float) and isinstance(mine, float):
            return bool(np.isclose(mine, want, rtol=tolerance or 1e-7, atol=tolerance or 1e-9, equal_nan=True))
        try:
            return bool(mine == want)
        except Exception:  # an object of the learner's own making
            return False
    if not isinstance(mine, ndarray) or mine.shape != want.shape:
        return False
    if want.dtype.kind != "f" or mine.dtype.kind != "f":
        return bool(np.array_equal(mine, want))
    coarse = min(np.finfo(mine.dtype).precision, np.finfo(want.dtype).precision) < 10
    relative = tolerance or (1e-4 if coarse else 1e-7)
    absolute = tolerance or (1e-5 if coarse else 1e-9)
    with np.errstate(all="ignore"):
        return bool(np.allclose(mine, want, rtol=relative, atol=absolute, equal_nan=True))


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, ndarray) and isinstance(after, ndarray):
        return before.shape == after.shape and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if hasattr(before, "detach") and hasattr(after, "detach"):
        return _unchanged(before.detach().cpu().numpy(), after.detach().cpu().numpy())
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if isinstance(before, set | dict | str | int | float):
        return bool(before == after)
    return True
