"""From pieces to words to links."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment import WordAttention, combine_heads, word_links
from regard.alignment.extract import linked, links_in


def word_matrix(weights, source_words, target_words) -> np.ndarray:
    """Attention between words of one head, as many words as are numbered."""
    sides = list(source_words), list(target_words)
    sources, targets = (max((word for word in side if word is not None), default=-1) + 1 for side in sides)
    return WordAttention.of(weights[None, None], *sides, counts=(sources, targets)).words[0, 0]


def test_a_worked_example() -> None:
    """ "un|believ|able cats EOS" against "des chats in|croyables EOS"."""
    weights = np.array(
        [
            [0.1, 0.0, 0.0, 0.7, 0.2],  # des
            [0.0, 0.1, 0.0, 0.9, 0.0],  # chats
            [0.5, 0.2, 0.1, 0.1, 0.1],  # in
            [0.1, 0.3, 0.3, 0.3, 0.0],  # croyables
            [0.0, 0.0, 0.0, 0.0, 1.0],  # EOS
        ]
    )
    matrix = word_matrix(weights, [0, 0, 0, 1, None], [0, 1, 2, 2, None])
    np.testing.assert_allclose(matrix, [[0.1, 0.7], [0.1, 0.9], [0.75, 0.2]])
    assert word_links(matrix) == {(1, 0), (1, 1), (0, 2)}
    assert links_in(linked(matrix, "argmax", 0.72)) == {(1, 1), (0, 2)}
    assert links_in(linked(matrix, "threshold", 0.2)) == {(1, 0), (1, 1), (0, 2), (1, 2)}


@given(st.data())
def test_the_laws_of_word_matrices(data: st.DataObject) -> None:
    target, source = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    words = st.none() | st.integers(0, 4)
    source_words = data.draw(st.lists(words, min_size=source, max_size=source))
    target_words = data.draw(st.lists(words, min_size=target, max_size=target))
    weights = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.ones(source), size=target)
    matrix = word_matrix(weights, source_words, target_words)
    assert (matrix >= 0).all()
    assert (matrix.sum(axis=1) <= 1 + 1e-9).all()
    if None not in source_words:
        present = [word in target_words for word in range(len(matrix))]
        np.testing.assert_allclose(matrix.sum(axis=1), np.array(present, dtype=float))
    links = word_links(matrix)
    assert len({target for _, target in links}) == len(links), "argmax gives a target word one link at most"
    assert links <= links_in(linked(matrix, "threshold", 0.0))
    for source_word, target_word in links:
        assert matrix[target_word, source_word] == matrix[target_word].max()


def test_with_one_piece_per_word_the_matrix_is_unchanged() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=3)
    np.testing.assert_allclose(word_matrix(weights, range(4), range(3)), weights)


def test_layers_and_heads_are_chosen_or_averaged() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 3, 5))
    np.testing.assert_allclose(combine_heads(weights), weights.mean((0, 1)))
    np.testing.assert_allclose(combine_heads(weights, layer=1), weights[1].mean(0))
    np.testing.assert_allclose(combine_heads(weights, head=-1), weights[:, 2].mean(0))
    np.testing.assert_allclose(combine_heads(weights, layer=0, head=1), weights[0, 1])
    with pytest.raises(ValueError, match="there is no layer 2: this attention has 2, numbered from 0 to 1"):
        combine_heads(weights, layer=2)
    with pytest.raises(ValueError, match="there is no head -4"):
        combine_heads(weights, head=-4)


def test_ties_go_to_the_first_and_rows_of_zeros_link_to_nothing() -> None:
    assert word_links(np.array([[0.4, 0.4, 0.2], [0.0, 0.0, 0.0]])) == {(0, 0)}
    assert not linked(np.array([[0.0, 0.0]]), "threshold", 0.0).any()


def test_empty_sides_have_no_links() -> None:
    assert word_links(word_matrix(np.ones((2, 1)), [None], [0, 1])) == frozenset()
    assert word_links(word_matrix(np.zeros((0, 2)), [0, 1], [])) == frozenset()
    assert word_links(word_matrix(np.ones((1, 1)), [0], [None])) == frozenset()


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"2 target and 3 source positions, but word numbers were given for 2 and 2"):
        word_matrix(np.ones((2, 3)), [0, 1], [0, 1])
