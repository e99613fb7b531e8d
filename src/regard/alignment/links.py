"""Word links of a sentence pair, and lists of them that take four bytes a link instead of more than a hundred."""

from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

Link = tuple[int, int]
"""(source word, target word), both 0-based."""
_SIDE = 16
"""Bits for each word number: no sentence has more than 65,536 words."""
_MANY = f"word {{word}} of one sentence: at most {1 << _SIDE:,} words can be linked"


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


class LinkLists(Sequence[frozenset[Link]]):
    """A list of link sets, one for each sentence, unpacked on access.

    >>> some = LinkLists(2)
    >>> some[1] = {(0, 3)}
    >>> list(some)
    [frozenset(), frozenset({(0, 3)})]
    """

    def __init__(self, sentences: int = 0) -> None:
        self._packed: list[array[int]] = [_EMPTY] * sentences

    @classmethod
    def of(cls, links: Iterable[Set[Link]]) -> "LinkLists":
        found = cls()
        found._packed = [_pack(each) for each in links]
        return found

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, number: int) -> frozenset[Link]:  # type: ignore[override]
        return frozenset((one >> _SIDE, one & (1 << _SIDE) - 1) for one in self._packed[number])

    def __setitem__(self, number: int, links: Set[Link]) -> None:
        self._packed[number] = _pack(links)

    def put(self, number: int, links: Integer[np.ndarray, "links 2"]) -> None:
        """Set the links of a sentence from rows of (source word, target word), without Python objects."""
        if links.size and int(links.max()) >> _SIDE:
            raise ValueError(_MANY.format(word=int(links.max())))
        packed = np.sort(links[:, 0].astype(np.uint32) << _SIDE | links[:, 1].astype(np.uint32))
        self._packed[number] = array("I", packed.astype(np.uintc).tobytes())

    def __iter__(self) -> Iterator[frozenset[Link]]:
        return (self[number] for number in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    @property
    def links(self) -> int:
        """The number of links of all sentences."""
        return sum(map(len, self._packed))


_EMPTY: "array[int]" = array("I")


def _pack(links: Set[Link]) -> "array[int]":
    largest = max((max(link) for link in links), default=0)
    if largest >> _SIDE:
        raise ValueError(_MANY.format(word=largest))
    return array("I", sorted(source << _SIDE | target for source, target in links))
