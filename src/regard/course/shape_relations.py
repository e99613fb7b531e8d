"""How an answer of a wrong shape or structure comes from the right one: transposed, an axis lost, parts in another
order."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
from numpy import ndarray

from regard.course.answer_parts import Leaf
from regard.course.axis_names import Names, axis_name
from regard.course.outcome import equal
from regard.course.trial import Trial

Pair = tuple[ndarray, ndarray]
MOST_PARTS = 5


def parts_in_another_order(trials: list[Trial]) -> str | None:
    """A tuple whose parts are right, but stand in other places."""
    order: tuple[int, ...] | None = None
    names: list[str] = []
    for trial in (one for one in trials if one.wrong):
        mine, want = trial.yours.leaves[1:], trial.wanted.leaves[1:]
        if trial.yours.error or len(mine) != len(want) or not 2 <= len(want) <= MOST_PARTS:
            return None
        names = [leaf.name for leaf in want]
        fitting = [one for one in permutations(range(len(want))) if _fits(one, mine, want)]
        if order is not None and order not in fitting:
            return None
        order = order or next(iter(fitting), None)
        if order is None:
            return None
    if order is None or list(order) == sorted(order):
        return None
    return f"Every part is right, but their order is not: return ({', '.join(_bare(name) for name in names)})."


def _fits(order: tuple[int, ...], mine: tuple[Leaf, ...], want: tuple[Leaf, ...]) -> bool:
    return all(
        mine[place].kind == want[index].kind and equal(mine[place].value, want[index].value)
        for index, place in enumerate(order)
    )


def too_many_results(trials: list[Trial]) -> str | None:
    """Only one of the returned results is wanted, or a list wraps it."""
    wrong = [one for one in trials if one.wrong and one.yours.error is None]
    for trial in wrong:
        want, mine = trial.wanted.leaves, trial.yours.leaves
        if len(want) != 1 or len(mine) < 2 or not any(equal(one.value, want[0].value) for one in mine[1:]):
            return None
    if not wrong:
        return None
    return f"You return more than was asked for: return only {_bare(wrong[0].wanted.leaves[0].name)}."


def part_in_a_tuple(trials: list[Trial]) -> str | None:
    """A part that is itself a tuple, because a call that returns several results was not taken apart."""
    for trial in trials:
        found = trial.difference
        if found is None or found.yours is None or found.wanted is None:
            continue
        if found.yours.kind.startswith("tuple") and isinstance(found.wanted.value, ndarray):
            return (
                f"{found.wanted.name[0].upper()}{found.wanted.name[1:]}: a tuple stands where one array is wanted. A "
                f"call returned several results: take them apart (states, _ = …). A PackedSequence is unpacked with "
                f"pad_packed_sequence."
            )
    return None


def shape_relation(pairs: list[Pair], names: Names) -> str | None:
    """The first relation that explains all of these pairs of arrays."""
    mine, want = pairs[0]
    if not any(one.size for one, _ in pairs):
        return "Your answer is empty: nothing is ever put into it, or what is found is printed and not kept."
    for sentence in (*_same_numbers(pairs, names), *_lost_axis(pairs, names), *_extra_axis(pairs, names)):
        return sentence
    if mine.ndim == want.ndim:
        axes = [axis for axis in range(want.ndim) if mine.shape[axis] != want.shape[axis]]
        if len(axes) == 1:
            return _one_axis(pairs, axes[0], names)
    return None


def _same_numbers(pairs: list[Pair], names: Names) -> list[str]:
    mine, want = pairs[0]
    found = []
    squeezed = [(one.squeeze(), other.squeeze()) for one, other in pairs]
    if all(one.shape == other.shape and equal(one, other) for one, other in squeezed):
        found.append(_size_one(mine, want, names))
    turns = [order for order in permutations(range(mine.ndim)) if list(order) != sorted(order)]
    if mine.ndim == want.ndim <= 4 and max(mine.shape, default=0) > 1:
        for order in turns:
            if all(one.ndim == len(order) and equal(one.transpose(order), other) for one, other in pairs):
                found.append(
                    f"Your answer is transposed: the axes stand in another order. Wanted is {_shape(names, want)}; "
                    f"permute the axes, or put the parts together along another axis (dim=, batch_first=True)."
                )
                break
    if not found and mine.size == want.size and all(equal(one.ravel(), other.ravel()) for one, other in pairs):
        found.append(f"The numbers are right, in another shape: reshape them to {_shape(names, want)}.")
    return found


def _size_one(mine: ndarray, want: ndarray, names: Names) -> str:
    if mine.ndim > want.ndim:
        place = "in front" if mine.shape[0] == 1 and want.shape[:1] != (1,) else "at the end"
        return (
            f"The numbers are right, but there is an axis of size 1 too many {place}: wanted is {_shape(names, want)}. "
            f"Take it off with an index or with squeeze(axis)."
        )
    return (
        f"The numbers are right, but an axis of size 1 is lost: wanted is {_shape(names, want)}. A .squeeze() without "
        f"an axis also removes the batch axis of one sentence: name the axis."
    )


def _lost_axis(pairs: list[Pair], names: Names) -> list[str]:
    mine, want = pairs[0]
    if mine.ndim + 1 != want.ndim:
        return []
    ways: dict[str, Callable[[ndarray, int], ndarray]] = {
        "is the sum over {axis}: that axis must stay": lambda array, axis: np.sum(array, axis=axis),
        "is the mean over {axis}: that axis must stay": lambda array, axis: np.mean(array, axis=axis),
        "holds only the first entry along {axis}, wanted is every one": lambda array, axis: array.take(0, axis),
        "holds only the last entry along {axis}, wanted is every one": lambda array, axis: array.take(-1, axis),
    }
    for text, reduce in ways.items():
        for axis in range(want.ndim):
            if all(want.ndim > axis and equal(one, np.asarray(reduce(want, axis))) for one, want in pairs):
                where = axis_name(names, want.ndim, axis)
                return [f"Your answer {text.format(axis=where)}. Wanted is {_shape(names, want)}."]
    return [f"An axis is missing: wanted is {_shape(names, want)}. Did a sum or an index take it away (keepdims)?"]


def _extra_axis(pairs: list[Pair], names: Names) -> list[str]:
    mine, want = pairs[0]
    if mine.ndim != want.ndim + 1:
        return []
    for axis in range(mine.ndim):
        if all(equal(one.sum(axis=axis), other) for one, other in pairs):
            return [f"The last sum is missing: add up over axis {axis} and you have {_shape(names, want)}."]
        if all(equal(one.mean(axis=axis), other) for one, other in pairs):
            return [f"The last mean is missing: average over axis {axis} and you have {_shape(names, want)}."]
        if all(equal(one.take(-1, axis), other) for one, other in pairs):
            return [f"Only the last entry along axis {axis} is wanted: index it with -1."]
        if all(equal(one.take(0, axis), other) for one, other in pairs):
            return [f"Only the first entry along axis {axis} is wanted: the others repeat or do not belong here."]
    return [f"There is an axis too many: wanted is {_shape(names, want)}."]


def _one_axis(pairs: list[Pair], axis: int, names: Names) -> str | None:
    where = axis_name(names, pairs[0][1].ndim, axis)

    def cut(array: ndarray, first: int, size: int) -> ndarray:
        return np.take(array, range(first, first + size), axis=axis)

    if any(one.ndim != other.ndim for one, other in pairs):
        return None
    gaps = {one.shape[axis] - other.shape[axis] for one, other in pairs}
    if all(gap < 0 for gap in gaps):
        for text, first in (("at the end", False), ("at the beginning", True)):
            if all(
                equal(one, cut(other, other.shape[axis] - one.shape[axis] if first else 0, one.shape[axis]))
                for one, other in pairs
            ):
                if not first and all(one.shape[axis] == 1 for one, _ in pairs):
                    return f"Only the first entry along {where} is there: does `return` stand inside the loop?"
                number = "One entry is" if gaps == {-1} else "Entries are"
                return f"{number} missing {text} of {where}: a loop or a slice that stops one too early or starts late?"
    if all(gap > 0 for gap in gaps):
        for text, first in (("at the end", False), ("at the beginning", True)):
            if all(
                equal(cut(one, one.shape[axis] - other.shape[axis] if first else 0, other.shape[axis]), other)
                for one, other in pairs
            ):
                number = "There is one entry" if gaps == {1} else "There are entries"
                return f"{number} too many {text} of {where}: what is right stands beside them. Is a list not emptied?"
    return None


def _shape(names: Names, array: ndarray) -> str:
    """[batch, source], or the sizes where the axes have no names."""
    if len(names) == array.ndim and not any("*" in name or "{" in name for name in names):
        return f"[{', '.join(names)}]"
    return str(list(array.shape))


def _bare(name: str) -> str:
    return name.removeprefix("the ")
