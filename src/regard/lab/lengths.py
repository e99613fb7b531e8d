"""Detects shifted lines of a parallel corpus by the correlation of sentence lengths."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from regard.lab.finding import Finding

LEAST = 50
"""Smallest number of pairs for a correlation."""
STRETCH = 200
"""Smallest number of pairs in a segment; a corpus is cut into at most twenty."""
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_SHIFTED = "the files are shifted against each other: find the line that one of them lacks"

Lengths = Float[np.ndarray, "pairs"]


@dataclass(frozen=True)
class _Shift:
    """The lines by which targets lie below their sources, and the correlation of lengths with that shift."""

    by: int
    correlation: float

    def describe(self) -> str:
        lines = "line" if abs(self.by) == 1 else "lines"
        return f"with the target {abs(self.by)} {lines} {'below' if self.by > 0 else 'above'} ({self.correlation:.2f})"


def check_lengths(source: Lengths, target: Lengths) -> list[Finding]:
    """Findings about the whole corpus, and about segments of it that are shifted."""
    if len(source) < LEAST or not source.std() or not target.std():
        return []
    here = _correlation(source, target)
    if here <= 0.3:
        problem, best = (
            f"the lengths of the two sides hardly correlate ({here:.2f})",
            _best(source, target),
        )
        if best.correlation > max(0.3, here + 0.2):
            return [Finding("!", f"{problem}, but they do {best.describe()}", remedy=_SHIFTED)]
        return [
            Finding("!", problem, remedy="do the lines translate each other? Look at a few in the middle of the file")
        ]
    parts = list(_shifted_parts(source, target))
    if not parts:
        return [Finding("✓", f"long sources have long targets (correlation of lengths {here:.2f})")]
    first, last, shift = parts[0][0], parts[-1][1], parts[0][2]
    problem = (
        f"from about pair {first + 1:,} to {last:,} lengths do not correlate line by line, but do {shift.describe()}"
    )
    return [Finding("!", problem, remedy=_SHIFTED)]


def _shifted_parts(source: Lengths, target: Lengths) -> Iterator[tuple[int, int, _Shift]]:
    """The segments (first, end) whose lengths correlate only with a shift."""
    count = min(20, len(source) // STRETCH)
    ends = np.linspace(0, len(source), count + 1).astype(int).tolist() if count > 1 else []
    for first, last in pairwise(ends):
        one, other = source[first:last], target[first:last]
        best = _best(one, other)
        if best.correlation > max(0.4, _correlation(one, other) + 0.3):
            yield first, last, best


def _best(source: Lengths, target: Lengths) -> _Shift:
    return max((_Shift(by, _correlation(source, target, by)) for by in _SHIFTS), key=lambda one: one.correlation)


def _correlation(source: Lengths, target: Lengths, by: int = 0) -> float:
    if by:
        source, target = (source[:-by], target[by:]) if by > 0 else (source[-by:], target[:by])
    return float(np.corrcoef(source, target)[0, 1]) if source.std() and target.std() else 0.0
