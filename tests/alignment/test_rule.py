"""Extracting links from attention: shift, heads, threshold, EOS, and the names of heads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment import LinkRule, WordAttention, format_heads, parse_heads, word_links

# Two heads of one layer; three steps write a, b and EOS; two source words and EOS.
FIRST = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]
SECOND = [[0.2, 0.7, 0.1], [0.3, 0.1, 0.6], [0.6, 0.2, 0.2]]
ATTENTION = np.array([[FIRST, SECOND]])
WORDS = [0, 1, None]


def looks(shift: int = 0) -> WordAttention:
    return WordAttention.of(ATTENTION, WORDS, WORDS, counts=(2, 2), shift=shift)


def test_a_head_is_chosen_or_all_are_averaged() -> None:
    assert LinkRule(((0, 0),)).links(looks()) == {(0, 0), (1, 1)}
    assert LinkRule(((0, 1),)).links(looks()) == {(1, 0), (0, 1)}
    np.testing.assert_allclose(LinkRule().matrix(looks()), ATTENTION.mean((0, 1))[:2, :2])


def test_a_shift_reads_the_row_of_another_step() -> None:
    later = looks(1)
    np.testing.assert_allclose(later.words[0, 0], [FIRST[1][:2], FIRST[2][:2]])
    np.testing.assert_allclose(later.nothing[0, 0], [0.1, 0.9])
    earlier = looks(-1)
    np.testing.assert_allclose(earlier.words[0, 0], [[0.0, 0.0], FIRST[0][:2]])
    # A word whose row does not exist links to nothing.
    assert LinkRule(((0, 0),), shift=-1).links(earlier) == {(0, 1)}


def test_words_that_attend_mostly_to_eos_are_unlinked_only_with_null() -> None:
    second = LinkRule(((0, 1),))
    assert (0, 1) in second.links(looks())
    assert LinkRule(((0, 1),), null=True).links(looks()) == {(1, 0)}


def test_thresholds() -> None:
    assert LinkRule(((0, 0),), threshold=0.75).links(looks()) == {(1, 1)}
    assert LinkRule(((0, 0),), method="threshold", threshold=0.15).links(looks()) == {(0, 0), (1, 0), (1, 1)}


@given(st.integers(0, 10_000))
def test_the_default_rule_gives_the_alignment_of_a_translation(seed: int) -> None:
    random = np.random.default_rng(seed)
    source = [*sorted(random.integers(0, 3, 5).tolist()), None]
    target = [*sorted(random.integers(0, 4, 6).tolist()), None]
    attention = random.dirichlet(np.ones(6), size=(2, 3, 7))
    counts = max(w for w in source if w is not None) + 1, max(w for w in target if w is not None) + 1
    taken = WordAttention.of(attention, source, target, counts=counts)
    matrix = LinkRule().matrix(taken)
    np.testing.assert_allclose(matrix, taken.words.mean((0, 1)))
    np.testing.assert_allclose(taken.words.sum(-1) + taken.nothing, taken.words.any(-1), atol=1e-12)
    assert LinkRule().links(taken) == word_links(matrix)


def test_heads_by_name() -> None:
    heads = parse_heads("1.*,0.2", layers=2, heads=3)
    assert heads == ((1, 0), (1, 1), (1, 2), (0, 2))
    assert parse_heads(format_heads(heads), 2, 3) == heads
    with pytest.raises(ValueError, match=r"there is no head 2\.0: this model has layers 0 to 1, heads 0 to 2"):
        parse_heads("2.0", 2, 3)
    with pytest.raises(ValueError, match="'x' is not a head: expected layer"):
        parse_heads("0.0,x", 2, 3)


def test_describe_gives_the_options_of_the_rule() -> None:
    rule = LinkRule(((1, 0), (1, 3)), 1, "threshold", 0.2, null=True)
    assert rule.describe() == "heads=1.0,1.3 shift=1 method=threshold threshold=0.2 null=true"
    assert LinkRule().describe() == "shift=0"


def test_invalid_rules_raise() -> None:
    with pytest.raises(ValueError, match="method 'threshold' needs a threshold"):
        LinkRule(method="threshold")
    with pytest.raises(ValueError, match=r"threshold 2\.0 is not an attention weight"):
        LinkRule(threshold=2.0)
    with pytest.raises(ValueError, match=r"shift 9: links are in the row before \(-1\)"):
        LinkRule(shift=9)
    with pytest.raises(ValueError, match="3 target and 3 source positions, but word numbers were given for 2 and 3"):
        WordAttention.of(ATTENTION, WORDS, [0, 1], counts=(2, 2))
