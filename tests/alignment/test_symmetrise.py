"""Symmetrisation: its laws, and small cases worked by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from regard.alignment import product, symmetrise

from .random_links import link_sets


@given(link_sets, link_sets)
def test_each_method_lies_between_intersection_and_union(forward, backward) -> None:
    ladder = [
        symmetrise(forward, backward, name) for name in ("intersection", "grow-diag", "grow-diag-final-and", "union")
    ]
    assert all(smaller <= larger for smaller, larger in pairwise(ladder))
    assert ladder[0] == forward & backward
    assert ladder[3] == forward | backward


@given(link_sets)
def test_equal_directions_are_unchanged(links) -> None:
    for method in ("intersection", "union", "grow-diag", "grow-diag-final-and"):
        assert symmetrise(links, links, method) == links


def textbook_grow_diag(forward, backward) -> set:
    """The published pseudo-code, loop for loop: target words, source words, neighbours, until nothing is added."""
    links, either = set(forward & backward), forward | backward
    while True:
        before = len(links)
        for target in range(7):
            for source in range(7):
                if (source, target) not in links:
                    continue
                for step in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    near = source + step[0], target + step[1]
                    source_free = all(one != near[0] for one, _ in links)
                    target_free = all(other != near[1] for _, other in links)
                    if (source_free or target_free) and near in either:
                        links.add(near)
        if len(links) == before:
            return links


@given(link_sets, link_sets)
def test_grow_diag_is_the_published_algorithm(forward, backward) -> None:
    assert symmetrise(forward, backward, "grow-diag") == textbook_grow_diag(forward, backward)


@given(link_sets, link_sets)
def test_grow_diag_stops_only_when_no_neighbour_can_join(forward, backward) -> None:
    grown = symmetrise(forward, backward, "grow-diag")
    sources, targets = {source for source, _ in grown}, {target for _, target in grown}
    for source, target in (forward | backward) - grown:
        touches = any(abs(source - near) <= 1 and abs(target - other) <= 1 for near, other in grown)
        assert not touches or (source in sources and target in targets)


@given(link_sets, link_sets)
def test_final_and_leaves_no_link_between_two_free_words(forward, backward) -> None:
    final = symmetrise(forward, backward, "grow-diag-final-and")
    sources, targets = {source for source, _ in final}, {target for _, target in final}
    assert all(source in sources or target in targets for source, target in forward | backward)
    added = final - symmetrise(forward, backward, "grow-diag")
    assert len({source for source, _ in added}) == len({target for _, target in added}) == len(added)


def test_worked_by_hand() -> None:
    forward = {(0, 0), (1, 1), (2, 1), (4, 5)}
    backward = {(0, 0), (1, 1), (1, 2), (4, 4)}
    assert symmetrise(forward, backward, "intersection") == {(0, 0), (1, 1)}
    # (2, 1) and (1, 2) touch (1, 1) and each reaches a free word; (4, 4) and (4, 5) touch nothing.
    assert symmetrise(forward, backward, "grow-diag") == {(0, 0), (1, 1), (2, 1), (1, 2)}
    # (4, 5) comes from the forward links first; then source word 4 is taken.
    assert symmetrise(forward, backward, "grow-diag-final-and") == {(0, 0), (1, 1), (2, 1), (1, 2), (4, 5)}


def test_growth_stops_where_both_words_are_taken() -> None:
    assert symmetrise({(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}, "grow-diag") == {(0, 0), (1, 1)}


def test_growth_travels_through_links_added_on_the_way() -> None:
    assert symmetrise({(0, 0), (1, 1), (2, 2)}, {(0, 0)}, "grow-diag") == {(0, 0), (1, 1), (2, 2)}


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="no symmetrisation 'both': valid choices are intersection, union, grow-diag"):
        symmetrise({(0, 0)}, {(0, 0)}, "both")


def test_the_product_of_weights_lets_a_sure_direction_outweigh_a_doubtful_one() -> None:
    forward = np.array([[0.9, 0.1], [0.3, 0.7]])
    backward = np.array([[0.1, 0.3], [0.0, 0.8]])  # from target to source: rows are source words
    assert product(forward, backward, 0.29).tolist() == [[True, False], [True, True]]
    assert product(forward, backward, 0.31).tolist() == [[False, False], [False, True]]
    assert not product(forward, backward, 0.0)[0, 1]  # weight 0 never links
    np.testing.assert_array_equal(product(forward, backward, 0.2), product(backward, forward, 0.2).T)


def test_the_product_drops_words_that_one_direction_lacks() -> None:
    forward, backward = np.full((3, 2), 0.5), np.full((3, 2), 0.5)  # backward sees one source more, one target less
    assert product(forward, backward, 0.5).shape == (2, 2)
    assert product(forward, backward, 0.5).all()
