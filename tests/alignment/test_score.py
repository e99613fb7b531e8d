"""Alignment Error Rate and the entropy of attention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.alignment import Links, attention_entropy, score_alignment

from .random_links import corpora, corpus_of, link_sets


def test_worked_by_hand() -> None:
    gold = [Links.of([(0, 0), (1, 1)], [(1, 2)]), Links.of([(0, 0)])]
    score = score_alignment([{(0, 0), (1, 2), (5, 5)}, set()], gold)
    assert score.aer == pytest.approx(1 - (1 + 2) / (3 + 3))
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(1 / 3)
    assert (score.sentences, score.predicted, score.sure) == (2, 3, 3)


@given(corpora, st.data())
def test_laws(drawn, data: st.DataObject) -> None:
    gold = corpus_of(drawn)
    predicted = [data.draw(link_sets) for _ in gold]
    score = score_alignment(predicted, gold)
    assert 0 <= score.aer <= 1
    assert 0 <= score.precision <= 1
    assert 0 <= score.recall <= 1
    assert score == score_alignment(predicted[::-1], gold[::-1])
    assert score_alignment([each.sure for each in gold], gold).aer == 0
    flipped = score_alignment([{(t, s) for s, t in each} for each in predicted], [each.flipped() for each in gold])
    assert flipped == score
    if all(each.sure == each.possible for each in gold) and score.predicted + score.sure:
        overlap = sum(len(each & truth.sure) for each, truth in zip(predicted, gold, strict=True))
        assert score.aer == pytest.approx(1 - 2 * overlap / (score.predicted + score.sure)), "1 - F1 when all is sure"


def test_nothing_to_score_is_refused() -> None:
    with pytest.raises(ValueError, match="1 predicted alignments against 0 gold ones"):
        score_alignment([set()], [])
    with pytest.raises(ValueError, match="the gold alignment is empty"):
        score_alignment([], [])
    silent = score_alignment([set()], [Links.of([])])
    assert (silent.aer, silent.precision, silent.recall) == (0.0, 1.0, 1.0)


def test_entropy_of_known_rows() -> None:
    rows = np.array([[[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.0, 0, 0, 0], [0.2, 0.2, 0, 0]]])
    np.testing.assert_allclose(attention_entropy(rows), [[0.0, np.log(4), 0.0, np.log(2)]])
    assert attention_entropy(rows.astype(np.float32)).dtype == np.float32


@given(st.integers(1, 9), st.integers(0, 99))
def test_entropy_lies_between_0_and_the_log_of_the_width_and_ignores_scale(width: int, seed: int) -> None:
    rows = np.random.default_rng(seed).dirichlet(np.ones(width), size=5)
    entropy = attention_entropy(rows)
    assert (entropy >= 0).all()
    assert (entropy <= np.log(width) + 1e-9).all()
    np.testing.assert_allclose(attention_entropy(rows * 0.3), entropy, atol=1e-12)


def test_entropy_raises_for_invalid_weights() -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        attention_entropy(np.array([[-0.1, 1.1]]))
    with pytest.raises(ValueError, match="finite and not negative"):
        attention_entropy(np.array([[np.nan, 1.0]]))
