"""Hypothesis strategies for links, as plain sets: checked code draws random numbers, which strategies may not."""

from hypothesis import strategies as st

from regard.alignment import Link, Links

link_sets = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)
sure_and_possible = st.tuples(link_sets, link_sets)
corpora = st.lists(sure_and_possible, min_size=1, max_size=6)


def corpus_of(drawn: list[tuple[frozenset[Link], frozenset[Link]]]) -> list[Links]:
    return [Links.of(sure, possible) for sure, possible in drawn]
