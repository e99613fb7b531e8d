"""How wrong numbers come from the right ones: another sign, a factor, a softmax too many, one position too late."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy import ndarray

from regard.course.axis_names import Names, axis_name
from regard.course.outcome import equal

Pair = tuple[ndarray, ndarray]
Sizes = Mapping[str, int]


def value_relation(pairs: list[Pair], sizes: list[Sizes], names: Names) -> list[str]:
    """Sentences that hold for all of these pairs of arrays (yours, wanted) of equal shapes."""
    clean = [
        (one.astype(float), other.astype(float), size)
        for (one, other), size in zip(pairs, sizes, strict=True)
        if one.size and one.dtype.kind in "biuf" and other.dtype.kind in "biuf"
    ]
    if not clean:
        return []
    both = [(one, other) for one, other, _ in clean]
    kinds = {one.dtype.kind for one, _ in pairs}
    if kinds == {"b"}:
        return _of_masks(both, names)
    found = _not_finite(both) or _factor(both, [size for *_, size in clean]) or _almost(both)
    found = found or _function_of(both) or _moved(both, names) or _constant(both, names)
    return found or [*_sums(both), *_where(both, names)]


def number_relation(mine: ndarray, want: ndarray) -> list[str]:
    """Sentences about single numbers, one of each input."""
    if len(mine) > 2 and np.ptp(mine) == 0 and np.ptp(want) > 0:
        return [f"Your answer is always {mine[0]:g}, whatever the input: something is fixed that should be computed."]
    pairs = [(mine, want)]
    return _not_finite(pairs) or _factor(pairs, [{}]) or _almost(pairs) or _function_of(pairs)


def _of_masks(pairs: list[Pair], names: Names) -> list[str]:
    if all(equal(1 - one, other) for one, other in pairs):
        return ["The mask is inverted: True stands where False is wanted, and the other way round."]
    return _moved(pairs, names) or _where(pairs, names)


def _softmax(array: ndarray, axis: int = -1) -> ndarray:
    shares = np.exp(array - array.max(axis=axis, keepdims=True))
    return np.asarray(shares / shares.sum(axis=axis, keepdims=True))


Function = Callable[[ndarray], ndarray]
FUNCTIONS: tuple[tuple[Function, str], ...] = (
    (lambda want: -want, "The sign is wrong: your answer is minus the wanted one."),
    (lambda want: 1 - want, "Your answer is 1 minus the wanted one: it is turned the wrong way round."),
    (np.abs, "Your answer has the right sizes but never a sign: an abs() too many?"),
    (_softmax, "A softmax was already applied to your answer (its rows sum to 1): leave it to the next step."),
    (np.exp, "Your answer is exp() of the wanted one: a logarithm is missing, or an exp too many."),
    (
        lambda want: np.log(want),
        "Your answer is the logarithm of the wanted one: an exp is missing, or a log too many.",
    ),
    (np.tanh, "Your answer is tanh of the wanted one: a tanh too many."),
    (lambda want: 1 / (1 + np.exp(-want)), "Your answer is the sigmoid of the wanted one: a sigmoid too many."),
    (np.square, "Your answer is the square of the wanted one."),
    (lambda want: np.maximum(want, 0), "Your answer is the wanted one without its negative numbers: a ReLU too many?"),
    (
        lambda want: want / want.max(axis=-1, keepdims=True),
        "Each row is divided by its largest number: divide by its sum.",
    ),
    (
        lambda want: (want == want.max(axis=-1, keepdims=True)).astype(float),
        "Only the largest of each row counts in your answer: a hard choice (argmax). Wanted are shares for all.",
    ),
)
INVERSES: tuple[tuple[Function, str], ...] = (
    (_softmax, "The softmax is missing: softmax of your answer is the wanted one."),
    (np.tanh, "A tanh is missing at the end: tanh of your answer is the wanted one."),
    (np.exp, "An exp is missing at the end: exp of your answer is the wanted one."),
    (np.log, "A logarithm is missing at the end: log of your answer is the wanted one."),
    (
        lambda mine: 1 / (1 + np.exp(-mine)),
        "A sigmoid is missing at the end: the sigmoid of your answer is the wanted one.",
    ),
    (
        lambda mine: mine / mine.sum(axis=-1, keepdims=True),
        "The rows are not normalised: divide each row by its sum, so that it sums to 1.",
    ),
    (np.sqrt, "A square root is missing: the root of your answer is the wanted one."),
)


def _function_of(pairs: list[Pair]) -> list[str]:
    for function, sentence in FUNCTIONS:
        if _all(pairs, lambda one, other, function=function: (one, function(other))):
            return [sentence]
    for function, sentence in INVERSES:
        if _all(pairs, lambda one, other, function=function: (function(one), other)):
            return [sentence]
    return []


def _all(pairs: list[Pair], made: Callable[..., Pair]) -> bool:
    """Whether `made(yours, wanted)` gives two equal arrays for every pair, and the evidence is enough: more than one
    element in some wanted array, or more than two pairs."""
    telling = False
    for one, other in pairs:
        with np.errstate(all="ignore"):
            left, right = made(one, other)
        if left.shape != right.shape or not np.allclose(left, right, rtol=1e-5, atol=1e-7, equal_nan=False):
            return False
        telling = telling or other.size > 1 or len(pairs) > 2
    return telling


def _factor(pairs: list[Pair], sizes: list[Sizes]) -> list[str]:
    """A constant factor between the answers; if it differs between inputs, the axis whose size explains it."""
    factors = []
    for one, other in pairs:
        apart = np.abs(other) > 1e-9
        with np.errstate(all="ignore"):
            quotients = one[apart] / other[apart]
        if (
            not apart.any()
            or not np.allclose(one[~apart], 0)
            or not np.allclose(quotients, quotients.flat[0], rtol=1e-5)
        ):
            return _offset(pairs)
        factors.append(float(quotients.flat[0]))
    if sum(other.size for _, other in pairs) < 3:
        return []
    if np.allclose(factors, -1):
        return ["The sign is wrong: your answer is minus the wanted one."]
    if np.allclose(factors, 1, rtol=0.005):
        return []
    if np.allclose(factors, factors[0]):
        return [f"Your answer is {factors[0]:.3g} times the wanted one: a constant factor too many or missing."]
    for axis in sizes[0]:
        size = np.array([float(one.get(axis, 0)) for one in sizes])
        for text, wanted in ((f"1 / {axis}", 1 / np.maximum(size, 1)), (axis, size)):
            if np.allclose(factors, wanted):
                remedy = "a mean where a sum is wanted" if "/" in text else "a sum where a mean is wanted"
                return [f"Your answer is the wanted one times {text}: {remedy}?"]
        for text, wanted in ((f"1 / √{axis}", 1 / np.sqrt(np.maximum(size, 1))), (f"√{axis}", np.sqrt(size))):
            if np.allclose(factors, wanted):
                return [f"Your answer is the wanted one times {text}: a scaling too many or missing."]
    if max(other.size for _, other in pairs) < 3:
        return []
    return ["Your answer is the wanted one times a factor that changes with the input: a mean where a sum is wanted "
            "(or a sum where a mean is), or a division too many."]  # fmt: skip


def _offset(pairs: list[Pair]) -> list[str]:
    gaps = [one - other for one, other in pairs]
    if max(gap.size for gap in gaps) < 3 or not all(
        np.allclose(gap, gap.flat[0], rtol=1e-5, atol=1e-9) for gap in gaps
    ):
        return []
    first = float(gaps[0].flat[0])
    if all(np.isclose(float(gap.flat[0]), first) for gap in gaps):
        return [f"Every number differs by the same amount, {first:+.3g}: something is added that should not be."]
    return ["All numbers of an answer differ by the same amount: something is added that should not be."]


def _moved(pairs: list[Pair], names: Names) -> list[str]:
    rank = pairs[0][1].ndim
    if any(other.ndim != rank for _, other in pairs):
        return []
    square = rank >= 2 and all(one.shape[-1] == one.shape[-2] for one, _ in pairs)
    if square and _all(pairs, lambda one, other: (one.swapaxes(-1, -2), other)):
        return ["Your answer is the transpose of the wanted one: rows and columns are swapped."]
    for axis in range(rank):
        where = axis_name(names, rank, axis)
        if _all(pairs, lambda one, other, axis=axis: (np.flip(one, axis), other)):
            return [f"Your answer stands in reverse order along {where}."]
        for step in (1, -1):
            if _all(pairs, lambda one, other, axis=axis, step=step: _overlap(one, other, axis, step)):
                late = "late" if step > 0 else "early"
                return [f"Everything stands one position too {late} along {where}: a shift by one (off by one)."]
        if _permuted(pairs, axis):
            return [f"The right entries, but in another order along {where}: was something sorted and not put back?"]
    return []


def _constant(pairs: list[Pair], names: Names) -> list[str]:
    """Every entry along an axis is the same, where the wanted ones differ."""
    rank = pairs[0][1].ndim
    for axis in range(rank):
        some = [(one, other) for one, other in pairs if other.ndim == rank and other.shape[axis] > 1]
        if some and all(
            np.allclose(one, one.take([0], axis)) and not np.allclose(other, other.take([0], axis))
            for one, other in some
        ):
            where = axis_name(names, rank, axis)
            return [f"All entries along {where} are the same: one result is computed for all of them (a mean, a sum or "
                    f"one entry is used for each), or the same object is put into every place."]  # fmt: skip
    return []


def _overlap(one: ndarray, other: ndarray, axis: int, step: int) -> Pair:
    size = other.shape[axis]
    if size < 3:
        return one, other
    left, right = (range(1, size), range(size - 1)) if step > 0 else (range(size - 1), range(1, size))
    return one.take(left, axis), other.take(right, axis)


def _permuted(pairs: list[Pair], axis: int) -> bool:
    telling = False
    for one, other in pairs:
        rows, wanted = (np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (one, other))
        left = list(range(len(wanted)))
        for row in rows:
            found = next((index for index in left if np.allclose(row, wanted[index], rtol=1e-5, atol=1e-9)), None)
            if found is None:
                return False
            left.remove(found)
        telling = telling or (rows.shape[1] > 1 and len(rows) > 1)
    return telling


def _almost(pairs: list[Pair]) -> list[str]:
    for digits in (0, 1, 2, 3, 4, 5):
        if all(np.allclose(one, np.round(other, digits), rtol=0, atol=1e-9) for one, other in pairs):
            return [f"Your numbers are rounded to {digits} decimals: return them with all their digits."]
    if all(np.allclose(one, other, rtol=0.02, atol=0.005) for one, other in pairs):
        sums = [abs(float((one - other).sum())) for one, other in pairs]
        added = (
            " A constant (an epsilon) added to a sum does that," if max(sums) > 1e-6 else " An approximation does that,"
        )
        return [f"Almost right: the numbers differ in the third digit.{added} and so does rounding on the way."]
    return []


def _not_finite(pairs: list[Pair]) -> list[str]:
    bad = [not np.isfinite(one).all() and np.isfinite(other).all() for one, other in pairs]
    if not all(bad):
        return []
    mine = pairs[0][0]
    if np.isnan(mine).any():
        return ["Your answer has nan in it: 0 / 0, infinity − infinity, infinity × 0, or nan that came from the "
                "padding. A row whose scores are all minus infinity has nothing to share; a nan times 0 is still "
                "nan: choose with np.where or masked_fill instead of multiplying."]  # fmt: skip
    return ["Your answer has infinity in it: exp() of a large number, or a division by 0."]


def _sums(pairs: list[Pair]) -> list[str]:
    """Rows that sum to 1 but should not, or should but do not."""

    def normal(array: ndarray) -> bool:
        return array.ndim > 0 and array.shape[-1] > 1 and bool(np.allclose(array.sum(axis=-1), 1, atol=1e-6))

    wide = [(one, other) for one, other in pairs if other.ndim and other.shape[-1] > 1]
    if not wide:
        return []
    if all(normal(one) and not normal(other) for one, other in wide):
        return ["Its rows already sum to 1, and should not: was a softmax applied, or a row normalised again?"]
    if all(normal(other) for _, other in wide) and not any(normal(one) for one, _ in wide):
        if all(one.ndim == 2 and np.allclose(one.sum(axis=0), 1, atol=1e-6) for one, _ in wide):
            return ["The columns sum to 1, the rows do not: the softmax runs over the wrong axis."]
        if all(np.isclose(one.sum(), 1, atol=1e-6) for one, _ in wide if one.ndim > 1):
            return ["Only the whole array sums to 1: each row must sum to 1 by itself (the last axis)."]
        return [f"The rows must sum to 1; one of yours sums to {float(wide[0][0].sum(axis=-1).flat[0]):.3g}."]
    return []


def _where(pairs: list[Pair], names: Names) -> list[str]:
    """Where the wrong numbers are, if they are all at one end of an axis."""
    rank = pairs[0][1].ndim
    if any(other.ndim != rank for _, other in pairs):
        return []
    for axis in range(rank):
        places = []
        for one, other in pairs:
            wrong = ~np.isclose(one, other, rtol=1e-5, atol=1e-8, equal_nan=True)
            others = tuple(index for index in range(rank) if index != axis)
            places.append((np.flatnonzero(wrong.any(axis=others)), other.shape[axis]))
        if any(size < 2 or not len(found) for found, size in places):
            continue
        where = axis_name(names, rank, axis)
        if all(list(found) == [size - 1] for found, size in places):
            return [f"Only the last entry along {where} is wrong: is the end treated right (off by one)?"]
        if all(list(found) == [0] for found, _ in places):
            return [f"Only the first entry along {where} is wrong: is the beginning treated right?"]
        if all(0 not in found and len(found) == size - 1 for found, size in places):
            return [f"Only the first entry along {where} is right: what should be done for each is done for one, or "
                    f"something is not reset or not carried on."]  # fmt: skip
    return []
