"""Forced decoding and forced prefixes."""

import pytest
import torch

from regard.search import PrefixTooLong, forced_search, greedy_search

from .markov import Markov
from .recurrent import BOS, EOS, PAD, UNK, Recurrent, limits, sources


def test_forcing_a_greedy_output_gives_its_scores_and_attention() -> None:
    model, source = Recurrent(9, 3), sources(4, 3)
    free = greedy_search(model, source, limits(6, 3, 8, 1))
    forced = forced_search(model, source, [one.tokens for one in free])
    for one, other in zip(free, forced, strict=True):
        assert one.tokens == other.tokens
        assert one.log_probabilities == other.log_probabilities
        assert one.finished == other.finished
        assert torch.equal(one.weights, other.weights)


def test_the_score_is_the_sum_of_the_tables_log_probabilities() -> None:
    table = torch.randn(7, 7, generator=torch.Generator().manual_seed(1))
    scores = table.log_softmax(-1)
    (one,) = forced_search(Markov(table), None, [(UNK, 5, EOS)])
    expected = [scores[BOS, UNK], scores[UNK, 5], scores[5, EOS]]
    assert one.log_probabilities == pytest.approx([float(value) for value in expected])
    assert one.score == pytest.approx(float(sum(expected)))
    assert one.finished
    assert not forced_search(Markov(table), None, [(UNK, 5)])[0].finished


def test_an_empty_target_has_score_0() -> None:
    (one,) = forced_search(Recurrent(9, 0), sources(1), [()])
    assert (one.tokens, one.score) == ((), 0.0)


@pytest.mark.parametrize(
    ("prefixes", "message"),
    [
        ([(5,), ()], r"2 prefixes for 1 sentences"),
        ([(5, 5, 5, 5)], r"prefix of sentence 0 has 4 tokens, its limit is 3"),
        ([(5, PAD)], r"sentence 0 holds 0 at position 1; .* without BOS and padding"),
        ([(BOS, 5)], r"sentence 0 holds 2 at position 0"),
        ([(-1,)], r"sentence 0 holds -1 at position 0"),
        ([(EOS, 5)], r"sentence 0 goes on after EOS at position 0"),
        ([(9,)], r"forced token 9 lies outside the model's vocabulary of 9"),
    ],
)
def test_wrong_prefixes_are_refused(prefixes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        greedy_search(Recurrent(9, 0), sources(1), limits(3), prefixes=prefixes)


def test_the_error_about_a_long_prefix_has_its_numbers() -> None:
    with pytest.raises(PrefixTooLong) as caught:
        greedy_search(Recurrent(9, 0), sources(2), limits(3, 2), prefixes=[(5,), (5, 5, 5)])
    assert (caught.value.sentence, caught.value.tokens, caught.value.limit) == (1, 3, 2)


def test_an_impossible_forced_token_raises() -> None:
    table = torch.zeros(7, 7)
    table[:, 5] = -torch.inf
    with pytest.raises(ValueError, match="gives the forced token probability 0"):
        forced_search(Markov(table), None, [(6, 5)])
