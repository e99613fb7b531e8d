"""Sentences grouped by source length, to see where a model without attention loses quality."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_EDGES = (10, 20, 30, 40, 50, 60)


@dataclass(frozen=True)
class Bin:
    """Sentences of at least `shortest` and at most `longest` words (None: no upper end), by their numbers."""

    shortest: int
    longest: int | None
    members: tuple[int, ...]


def bins(lengths: Sequence[int], edges: Sequence[int] = DEFAULT_EDGES) -> list[Bin]:
    """Each edge starts a new bin, so (10, 20) makes 0-9, 10-19 and 20 or more; no sentence falls outside.

    >>> [each.members for each in bins([3, 25, 10], edges=(10, 20))]
    [(0,), (2,), (1,)]
    """
    if list(edges) != sorted(set(edges)) or any(edge <= 0 for edge in edges):
        raise ValueError(f"bin edges must rise and be above 0, got {list(edges)}")
    if any(length < 0 for length in lengths):
        raise ValueError(f"lengths cannot be negative, got {min(lengths)}")
    members: list[list[int]] = [[] for _ in range(len(edges) + 1)]
    for number, length in enumerate(lengths):
        members[bisect_right(edges, length)].append(number)
    starts, ends = [0, *edges], [*(edge - 1 for edge in edges), None]
    return [Bin(start, end, tuple(each)) for start, end, each in zip(starts, ends, members, strict=True)]
