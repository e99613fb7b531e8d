"""Packed links equal the links that were stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment import LinkLists

SETS = st.lists(st.frozensets(st.tuples(st.integers(0, 65_535), st.integers(0, 65_535)), max_size=5), max_size=6)


@given(SETS)
def test_links_survive_packing(links: list[frozenset[tuple[int, int]]]) -> None:
    packed = LinkLists.of(links)
    assert packed == links
    assert list(packed) == links
    assert (len(packed), packed.links) == (len(links), sum(map(len, links)))
    filled = LinkLists(len(links))
    for number in reversed(range(len(links))):
        assert filled[number] == frozenset()
        filled[number] = links[number]
    assert filled == packed


def test_a_word_number_too_large() -> None:
    with pytest.raises(ValueError, match="word 65536 of one sentence: at most 65,536 words"):
        LinkLists.of([{(0, 65_536)}])


def test_rows_of_links_are_the_same_links() -> None:
    lists = LinkLists(2)
    lists.put(1, np.array([[3, 0], [0, 65_535], [0, 2]]))
    lists.put(0, np.zeros((0, 2), dtype=np.int64))
    assert list(lists) == [frozenset(), frozenset({(3, 0), (0, 65_535), (0, 2)})]
    assert lists == LinkLists.of(lists)
    with pytest.raises(ValueError, match="word 65536 of one sentence: at most 65,536 words"):
        lists.put(0, np.array([[0, 65_536]]))
