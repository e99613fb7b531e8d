"""Sentences grouped by source length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.evaluation import bins


@given(st.lists(st.integers(0, 99)), st.sets(st.integers(1, 80), max_size=6).map(sorted))
def test_every_sentence_lies_in_exactly_one_bin(lengths: list[int], edges: list[int]) -> None:
    parts = bins(lengths, edges)
    assert sorted(one for each in parts for one in each.members) == list(range(len(lengths)))
    assert len(parts) == len(edges) + 1
    for each in parts:
        for one in each.members:
            assert each.shortest <= lengths[one] <= (each.longest if each.longest is not None else 99)


@pytest.mark.parametrize("edges", [(10, 10), (20, 10), (0, 10)])
def test_edges_must_rise(edges) -> None:
    with pytest.raises(ValueError, match="bin edges must rise and be above 0, got"):
        bins([1], edges)


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="lengths cannot be negative, got -2"):
        bins([1, -2])
