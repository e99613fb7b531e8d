"""An answer of the learner beside the right one, as two small matrices that a page can draw."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from regard.course.answer_parts import Leaf

MOST = 16
"""Rows and columns of a matrix, at most."""
Rows = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class AnswerMap:
    """`name` is the part of the answer; a number that is not finite is None."""

    name: str
    yours: Rows
    wanted: Rows


def answer_map(yours: Leaf | None, wanted: Leaf | None) -> AnswerMap | None:
    """Both arrays as matrices: of more than two axes, the matrix with the largest error; None for other values."""
    if yours is None or wanted is None or not all(_is_array(one.value) for one in (yours, wanted)):
        return None
    mine, want = _stack(yours.value), _stack(wanted.value)
    place = 0
    if mine.shape == want.shape:
        gaps = np.abs(np.nan_to_num(mine) - np.nan_to_num(want)) + (np.isfinite(mine) != np.isfinite(want))
        place = int(gaps.reshape(len(gaps), -1).max(axis=1).argmax())
    return AnswerMap(wanted.name, _rows(mine[min(place, len(mine) - 1)]), _rows(want[place]))


def largest(maps: Iterable[AnswerMap | None]) -> AnswerMap | None:
    """The map with the most cells: the clearest picture of a right answer."""
    found = [one for one in maps if one is not None and len(one.wanted) > 1]
    return max(found, key=lambda one: len(one.wanted) * len(one.wanted[0]), default=None)


def _is_array(value: object) -> bool:
    return isinstance(value, ndarray) and value.ndim > 0 and value.size > 0 and value.dtype.kind in "biuf"


def _stack(array: ndarray) -> ndarray:
    """[matrix, row, column]."""
    matrix = np.atleast_2d(array.astype(float))
    return matrix.reshape(-1, *matrix.shape[-2:])


def _rows(matrix: ndarray) -> Rows:
    return tuple(
        tuple(float(f"{value:.6g}") if np.isfinite(value) else None for value in row) for row in matrix[:MOST, :MOST]
    )
