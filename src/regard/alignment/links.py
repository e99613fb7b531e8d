"""Word links between a source and a target sentence."""

from collections.abc import Iterable
from dataclasses import dataclass

Link = tuple[int, int]
"""(source word, target word), both 0-based."""


@dataclass(frozen=True)
class Links:
    """Gold or predicted links; every sure link is also possible.

    >>> Links.of([(0, 0)], possible=[(1, 0)]).possible == {(0, 0), (1, 0)}
    True
    """

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)

    @classmethod
    def of(cls, sure: Iterable[Link], possible: Iterable[Link] = ()) -> "Links":
        return cls(frozenset(sure), frozenset(possible))

    def flipped(self) -> "Links":
        """The same links with source and target swapped."""
        return Links.of(((t, s) for s, t in self.sure), ((t, s) for s, t in self.possible))
