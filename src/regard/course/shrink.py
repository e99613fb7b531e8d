"""From an input that shows an error to the smallest one that still shows it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.exercise import Arguments, Family

TRIES = 60
"""Calls of the learner's function that shrinking may spend."""


def sizes_of(family: Family, index: int) -> dict[str, int]:
    """Sizes for the draw with this index: small and large ones mixed, every axis between its bounds."""
    random = np.random.default_rng([index, len(family.name), *family.name.encode()])
    if index == 0:
        return {axis: high for axis, (_, high) in family.sizes.items()}
    return {axis: int(random.integers(low, high + 1)) for axis, (low, high) in family.sizes.items()}


def draw(family: Family, sizes: Mapping[str, int], seed: int) -> Arguments:
    """The same sizes and seed give the same input, on every machine and every run."""
    return family.draw(dict(sizes), np.random.default_rng([seed, *family.name.encode()]))


def shrink(
    family: Family,
    sizes: dict[str, int],
    seed: int,
    arguments: Arguments,
    fails: Callable[[Arguments], bool],
    settled: Callable[[Arguments], bool],
) -> Arguments:
    """Smaller axes first, then rounder numbers, as long as `fails` holds.

    Rounding can leave the family: rows that no longer sum to 1, ties. `settled` says whether an input still has one
    right answer.
    """
    if not family.shrink:
        return arguments
    left = TRIES
    for candidate in _smaller(family, sizes):
        if left <= 0:
            break
        left -= 1
        smaller = draw(family, candidate, seed)
        if fails(smaller):
            arguments = smaller
            break
    for decimals in (0, 1, 2):
        rounder = {name: _rounded(value, decimals) for name, value in arguments.items()}
        if left > 0 and fails(rounder) and settled(rounder):
            return rounder
        left -= 1
    return arguments


def _smaller(family: Family, sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """All smaller combinations of sizes, the smallest input first."""
    axes = list(sizes)
    ranges = [range(family.sizes[axis][0], sizes[axis] + 1) for axis in axes]
    combinations = [
        dict(zip(axes, (ranges[axis][place] for axis, place in enumerate(places)), strict=True))
        for places in np.ndindex(*(len(one) for one in ranges))
    ]
    combinations.sort(key=lambda one: (int(np.prod(list(one.values()))), sum(one.values())))
    return iter([one for one in combinations if one != sizes][:TRIES])


def _rounded(value: Any, decimals: int) -> Any:
    if isinstance(value, ndarray) and value.dtype.kind == "f":
        return np.round(value, decimals)
    if hasattr(value, "is_floating_point") and value.is_floating_point() and not getattr(value, "grad_fn", None):
        return value.detach().round(decimals=decimals)
    return value
