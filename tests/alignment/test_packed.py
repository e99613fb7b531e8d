"""Many sentences' links in little memory come back as they went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment import LinkLists

SETS = st.lists(st.frozensets(st.tuples(st.integers(0, 65_535), st.integers(0, 65_535)), max_size=5), max_size=6)


@given(SETS)
def test_they_come_back(links: list[frozenset[tuple[int, int]]]) -> None:
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
