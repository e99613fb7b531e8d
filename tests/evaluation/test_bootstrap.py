"""Statistics that add up, and the paired bootstrap over them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.evaluation import (
    bleu,
    bleu_from,
    bleu_statistics,
    chrf,
    chrf_from,
    chrf_statistics,
    exact_match,
    match_statistics,
    paired_bootstrap,
    share,
)

texts = st.lists(st.sampled_from(["the", "cat", "Sat", "on", "mat", ".", "été"]), max_size=7).map(" ".join)
corpora = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=5)


@given(corpora, st.booleans())
@settings(max_examples=60, deadline=None)
def test_summed_statistics_give_the_corpus_scores(pairs, lowercase: bool) -> None:
    hypotheses, wanted = [one for one, _ in pairs], [other for _, other in pairs]
    summed = bleu_statistics(hypotheses, wanted, lowercase=lowercase).sum(axis=0)
    assert bleu_from(summed) == pytest.approx(bleu(hypotheses, wanted, lowercase=lowercase).score)
    summed = chrf_statistics(hypotheses, wanted, lowercase=lowercase).sum(axis=0)
    assert chrf_from(summed) == pytest.approx(chrf(hypotheses, wanted, lowercase=lowercase).score)
    assert share(match_statistics(hypotheses, wanted).sum(axis=0)) == exact_match(hypotheses, wanted)


def right(count: int, of: int) -> np.ndarray:
    """Statistics of a system with a given number of correct sentences."""
    return np.stack([np.arange(of) < count, np.ones(of)], axis=1).astype(float)


def test_a_system_does_not_differ_from_itself() -> None:
    same = paired_bootstrap(right(60, 100), right(60, 100), share)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_a_clear_difference_is_clear_and_a_small_one_is_not() -> None:
    clear = paired_bootstrap(right(80, 200), right(40, 200), share)
    assert clear.difference == pytest.approx(0.2)
    assert clear.low > 0
    assert clear.p_value < 0.01
    small = paired_bootstrap(right(81, 200), right(80, 200), share)
    assert small.low <= 0 <= small.high
    assert small.p_value > 0.1
    swapped = paired_bootstrap(right(40, 200), right(80, 200), share)
    assert (swapped.difference, swapped.low, swapped.high) == (-clear.difference, -clear.high, -clear.low)
    assert swapped.p_value == clear.p_value


def test_the_interval_is_that_of_theory() -> None:
    """The paired difference of shares has the standard error sqrt(var(d) / n)."""
    generator = np.random.default_rng(3)
    first, second = (np.stack([generator.random(400) < chance, np.ones(400)], 1).astype(float) for chance in (0.6, 0.5))
    found = paired_bootstrap(first, second, share, samples=4000)
    error = (first[:, 0] - second[:, 0]).std() / 20
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_equal_systems_are_rarely_significant() -> None:
    """At a level of 5 %, about one in twenty pairs of equally good systems; five standard errors of leeway."""
    generator, called = np.random.default_rng(1), 0
    for seed in range(200):
        first, second = (np.stack([generator.random(120) < 0.5, np.ones(120)], 1).astype(float) for _ in range(2))
        called += paired_bootstrap(first, second, share, samples=200, seed=seed).p_value <= 0.05
    assert 1 <= called <= 10 + 5 * np.sqrt(200 * 0.05 * 0.95)


def test_the_seed_determines_the_result() -> None:
    first, second = right(50, 100), right(45, 100)
    runs = [paired_bootstrap(first, second, share, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 2\), the second \(4, 2\): both need the same sentences"):
        paired_bootstrap(right(1, 3), right(1, 4), share)
    with pytest.raises(ValueError, match="no sentences to compare"):
        paired_bootstrap(np.zeros((0, 2)), np.zeros((0, 2)), share)
    with pytest.raises(ValueError, match="samples must be 1 or more, got 0"):
        paired_bootstrap(right(1, 3), right(2, 3), share, samples=0)
