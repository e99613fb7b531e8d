"""One input with the results of the learner and of the reference: the data of every diagnosis."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from regard.course.answer_parts import Leaf
from regard.course.exercise import Arguments, Family
from regard.course.outcome import Difference, Outcome, difference_of


@dataclass(frozen=True)
class Trial:
    """`sizes` are those that the input was drawn with; empty for an input that was shrunk."""

    family: Family
    arguments: Arguments
    yours: Outcome
    wanted: Outcome
    sizes: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def difference(self) -> Difference | None:
        return difference_of(self.family, self.yours, self.wanted)

    @property
    def wrong(self) -> bool:
        return self.difference is not None

    @cached_property
    def parts(self) -> tuple[tuple[Leaf, Leaf], ...]:
        """Yours and wanted, part by part; empty where an error was raised or their number differs."""
        if self.yours.error is not None:
            return ()
        mine, want = self.yours.as_compared_with(self.wanted), self.wanted.leaves
        return tuple(zip(mine, want, strict=True)) if len(mine) == len(want) else ()
