"""Whether the lengths of two sides go together, line by line: if not, or not everywhere, lines are shifted."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from regard.lab.finding import Finding

LEAST = 50
"""Pairs that a correlation needs."""
STRETCH = 200
"""Pairs of a stretch at least; a corpus has twenty at most."""
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_SHIFTED = "the files are shifted against each other: find the line that one of them lacks"

Lengths = Float[np.ndarray, "pairs"]


@dataclass(frozen=True)
class _Shift:
    """By how many lines the target of a source lies below it, and how well the lengths go together then."""

    by: int
    correlation: float

    def say(self) -> str:
        lines = "line" if abs(self.by) == 1 else "lines"
        return f"with the target {abs(self.by)} {lines} {'below' if self.by > 0 else 'above'} ({self.correlation:.2f})"


def go_together(source: Lengths, target: Lengths) -> list[Finding]:
    """What the lengths say of the whole, and where a part of it is shifted: half a corpus may be right."""
    if len(source) < LEAST or not source.std() or not target.std():
        return []
    here = _correlation(source, target)
    if here <= 0.3:
        said, best = f"the lengths of the two sides hardly go together (correlation {here:.2f})", _best(source, target)
        if best.correlation > max(0.3, here + 0.2):
            return [Finding("!", f"{said}, but they do {best.say()}", remedy=_SHIFTED)]
        return [Finding("!", said, remedy="do the lines translate each other? Look at a few in the middle of the file")]
    parts = list(_shifted_parts(source, target))
    if not parts:
        return [Finding("✓", f"long sources have long targets (correlation of lengths {here:.2f})")]
    first, last, shift = parts[0][0], parts[-1][1], parts[0][2]
    said = f"from about pair {first + 1:,} to {last:,} lengths do not go together line by line, but {shift.say()}"
    return [Finding("!", said, remedy=_SHIFTED)]


def _shifted_parts(source: Lengths, target: Lengths) -> Iterator[tuple[int, int, _Shift]]:
    """The stretches, from first to last (not included), whose lengths go together only when they are shifted."""
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
