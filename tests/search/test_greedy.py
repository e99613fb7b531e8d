"""Greedy search: against a plain loop, its laws, and its edges."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.search import Options, beam_search, forced_search, greedy_search

from .markov import Markov, uniform
from .recurrent import BOS, EOS, PAD, UNK, Recurrent, limits, sources


def plain(model: Recurrent, source: torch.Tensor, limit: int) -> tuple[list[int], float, torch.Tensor]:
    """The textbook loop over one sentence."""
    state, token, output, score, rows = model.start(source), BOS, [], 0.0, []
    while token != EOS and len(output) < limit:
        step = model.step(torch.tensor([token]), state)
        scores = step.logits[0].log_softmax(-1)
        allowed = scores.clone()
        allowed[[PAD, BOS]] = -torch.inf
        token = int(allowed.argmax())
        score += float(scores[token])
        output.append(token)
        rows.append(step.weights[0])
        state = step.state
    return output, score, torch.stack(rows, dim=2)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_a_batch_equals_the_plain_loop_over_each_sentence(seed: int) -> None:
    model, source, most = Recurrent(9, seed), sources(5, seed), [7, 1, 10, 2, 5]
    for row, one in enumerate(greedy_search(model, source, limits(*most))):
        output, score, weights = plain(model, source[row : row + 1], most[row])
        assert list(one.tokens) == output
        assert one.score == pytest.approx(score, abs=1e-4)
        assert one.normalised == pytest.approx(score / len(output), abs=1e-4)
        assert one.finished == (output[-1] == EOS)
        torch.testing.assert_close(one.weights, weights)


def test_sentences_leave_the_batch_as_they_end() -> None:
    model = Recurrent(9, 0)
    found = greedy_search(model, sources(3), limits(1, 3, 2))
    lengths = [len(one.tokens) for one in found]
    assert model.rows == [sum(length > step for length in lengths) for step in range(max(lengths))]


def test_every_attention_row_is_a_distribution_over_real_positions() -> None:
    source = sources(4, 7)
    for row, one in enumerate(greedy_search(Recurrent(9, 7), source, limits(6, 6, 6, 6))):
        torch.testing.assert_close(one.weights.sum(-1), torch.ones(1, 1, len(one.tokens)))
        assert not one.weights[..., source[row] == PAD].any()


@pytest.mark.parametrize("search", [greedy_search, beam_search])
def test_an_empty_batch_and_a_limit_of_0_call_no_model(search) -> None:
    model = Recurrent(9, 0)
    assert search(model, sources(0), limits()) == []
    found = search(model, sources(2), limits(0, 0))
    for one in [found[0][0], found[1][0]] if search is beam_search else found:
        assert (one.tokens, one.score, one.normalised, one.weights, one.finished) == ((), 0.0, 0.0, None, False)
    assert model.rows == []


def test_a_limit_of_0_beside_others() -> None:
    empty, one = greedy_search(Recurrent(9, 0), sources(2), limits(0, 4))
    assert empty.tokens == ()
    assert empty.weights.shape == (1, 1, 0, 5)
    assert len(one.tokens) > 0


def test_a_source_of_one_token() -> None:
    (one,) = greedy_search(Recurrent(9, 0), torch.tensor([[7]]), limits(5))
    assert torch.equal(one.weights, torch.ones(1, 1, len(one.tokens), 1))


def test_a_model_without_attention_gives_none_and_attention_can_be_left_out() -> None:
    assert greedy_search(uniform(6), None, limits(3))[0].weights is None
    assert greedy_search(Recurrent(9, 0), sources(1), limits(3), options=Options(weights=False))[0].weights is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_equal_logits_give_the_lowest_allowed_id(dtype: torch.dtype) -> None:
    (one,) = greedy_search(uniform(300, dtype), None, limits(2))
    assert one.tokens == (UNK, UNK)
    (one,) = greedy_search(uniform(300, dtype), None, limits(2), options=Options(forbid_unk=True))
    assert one.tokens == (EOS,)
    (group,) = beam_search(uniform(300, dtype), None, limits(1), beam=5, nbest=5)
    assert [one.tokens for one in group] == [(EOS,), (UNK,), (4,), (5,), (6,)]
    assert group[0].score == pytest.approx(-torch.log(torch.tensor(300.0)).item(), abs=1e-6)


def test_bfloat16_logits_are_normalised_in_float32() -> None:
    table = torch.randn(50, 50, generator=torch.Generator().manual_seed(0)).bfloat16()
    (one,) = greedy_search(Markov(table), None, limits(4))
    (exact,) = forced_search(Markov(table.double()), None, [one.tokens])
    assert one.score == pytest.approx(exact.score, abs=1e-5)


@pytest.mark.parametrize("search", [greedy_search, beam_search])
def test_nan_logits_name_the_step_and_the_sentence(search) -> None:
    table = torch.zeros(6, 6)
    table[:, EOS] = -5.0
    with pytest.raises(ValueError, match=r"NaN.* at step 2 \(0-based\) of sentence 0: .*training diverged"):
        search(Markov(table, broken=2), None, limits(5))
    with pytest.raises(ValueError, match="step 0"):
        search(Markov(torch.full((6, 6), -torch.inf)), None, limits(5))


def test_infinite_logits_are_never_chosen() -> None:
    table = torch.full((8, 8), -torch.inf)
    table[:, 5] = 0.0
    (one,) = greedy_search(Markov(table), None, limits(3))
    assert one.tokens == (5, 5, 5)
    assert one.score == 0.0
    (group,) = beam_search(Markov(table), None, limits(3), beam=4, nbest=4)
    assert [one.tokens for one in group] == [(5, 5, 5)]


@pytest.mark.parametrize("search", [greedy_search, beam_search])
def test_no_possible_token_raises(search) -> None:
    table = torch.full((6, 6), -torch.inf)
    table[:, UNK] = 0.0
    with pytest.raises(ValueError, match=r"no token is possible at step 0 \(0-based\) of sentence 0"):
        search(Markov(table), None, limits(3), options=Options(forbid_unk=True))


@given(seed=st.integers(0, 1000), size=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_no_ngram_is_repeated(seed: int, size: int) -> None:
    model, source, options = Recurrent(8, seed, sharpness=8.0), sources(2, seed), Options(no_repeat_ngram=size)
    groups = beam_search(model, source, limits(12, 12), beam=3, nbest=3, options=options)
    for one in [*greedy_search(model, source, limits(12, 12), options=options), *groups[0], *groups[1]]:
        ngrams = [one.tokens[start : start + size] for start in range(len(one.tokens) - size + 1)]
        assert len(set(ngrams)) == len(ngrams)


def test_no_repeat_ngram_changes_a_repeating_model() -> None:
    table = torch.zeros(8, 8)
    table[:, 5], table[:, 6] = 3.0, 2.0
    (one,) = greedy_search(Markov(table), None, limits(5), options=Options(no_repeat_ngram=2))
    assert one.tokens == (5, 5, 6, 5, UNK)
