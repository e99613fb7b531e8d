"""Rules found by measurement: one direction, two together, which posterior, and agreement without gold."""

import pytest

import regard
from regard.alignment import LinkRule, Links
from regard.lab.align_corpus import Direction, align
from regard.lab.parallel import ParallelText
from regard.lab.tuning import tune_by_agreement, tune_with_gold
from regard.runtime.aligner import Aligner
from regard.runtime.posterior import Posterior
from regard.text.input_error import InputError

SIDES = ParallelText(["3 4 5", "6 7 8 9", "", "10 11 3"], ["5 4 3", "9 8 7 6", "3", "3 11 10"])
GOLD = [Links.of((i, n - 1 - i) for i in range(n)) for n in (3, 4, 0, 3)]


@pytest.fixture(scope="module")
def wrong(reverser: regard.Translator) -> Direction:
    """Reads the row after the right one."""
    return Direction(Aligner(reverser.bundle), LinkRule(shift=1))


def test_tuning_keeps_a_rule_that_is_right_and_corrects_a_wrong_one(wrong: Direction) -> None:
    assert align(SIDES, wrong).scores(GOLD)["forward"].aer > 0.3
    (best,) = tune_with_gold(wrong, None, SIDES, GOLD)
    found = best.alone["forward"]
    assert (found.rule.shift, best.joined, best.posterior) == (0, None, None)
    assert best.error == found.aer == pytest.approx(0.0)
    assert set(found.by_shift()) == {-1, 0, 1}


def test_without_gold_two_directions_are_made_to_agree(wrong: Direction) -> None:
    (found,) = tune_by_agreement(wrong, wrong, SIDES)
    assert (found.forward.shift, found.backward.shift, found.posterior) == (0, 0, None)
    assert found.error == pytest.approx(0.0)


def test_the_rules_that_agree_best_come_first(wrong: Direction) -> None:
    requested = [Posterior(0.0, "word"), None, Posterior(0.5, "state")]
    found = tune_by_agreement(wrong, wrong, SIDES, requested)
    assert {one.posterior for one in found} == set(requested)
    assert [one.error for one in found] == sorted(one.error for one in found)
    for one in found:
        assert tune_by_agreement(wrong, wrong, SIDES, [one.posterior]) == [one]


def test_the_best_posterior_comes_first_and_each_is_tuned_separately(wrong: Direction) -> None:
    requested = [None, Posterior(1.0, "word"), Posterior(0.5, "state")]
    found = tune_with_gold(wrong, wrong, SIDES, GOLD, posteriors=requested)
    assert {one.posterior for one in found} == set(requested)
    assert [one.error for one in found] == sorted(one.error for one in found)
    for one in found:
        (alone,) = tune_with_gold(wrong, wrong, SIDES, GOLD, posteriors=[one.posterior])
        assert (alone.error, alone.joined) == (one.error, one.joined)


def test_tuning_without_gold_links_raises(wrong: Direction) -> None:
    with pytest.raises(InputError, match="the development set holds no gold link"):
        tune_with_gold(wrong, None, SIDES, [Links.of([])] * 4)
