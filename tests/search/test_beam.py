"""Beam search against exhaustive search, against greedy search, and at its edges."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.search import LengthPenalty, Options, SearchTree, beam_search, forced_search, greedy_search

from .recurrent import BOS, EOS, PAD, UNK, Recurrent, limits, sources

PENALTIES = [LengthPenalty(0.0), LengthPenalty(1.0), LengthPenalty(0.6, "gnmt"), LengthPenalty(2.0)]


def every_output(vocabulary: int, limit: int) -> list[tuple[int, ...]]:
    """All finished outputs of at most `limit` tokens, EOS included."""
    words = [token for token in range(vocabulary) if token not in (PAD, BOS, EOS)]
    return [(*body, EOS) for length in range(limit) for body in product(words, repeat=length)]


def exhaustive(model: Recurrent, source: torch.Tensor, limit: int, options: Options) -> list[tuple[float, tuple]]:
    """Every finished output of one sentence with its normalised score, best first."""
    outputs = every_output(model.readout.out_features, limit)
    scored = forced_search(model, source.expand(len(outputs), -1), outputs, options=options)
    return sorted(((one.normalised, one.tokens) for one in scored), reverse=True)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_exhaustive_search_finds(penalty: LengthPenalty, seed: int) -> None:
    model, options, source = Recurrent(6, seed, sharpness=6.0), Options(penalty=penalty), sources(3, seed)
    most = limits(5, 3, 4)
    found = beam_search(model, source, most, beam=400, nbest=6, options=options)
    for row, limit in enumerate(most.tolist()):
        expected = exhaustive(model, source[row : row + 1], limit, options)[:6]
        assert [one.tokens for one in found[row]] == [tokens for _, tokens in expected]
        assert [one.normalised for one in found[row]] == pytest.approx([score for score, _ in expected], abs=1e-5)


def plain_beam(
    model: Recurrent, source: torch.Tensor, limit: int, beam: int, options: Options
) -> list[tuple[int, ...]]:
    """The textbook algorithm for one sentence: no early stop, every prefix scored again from its start."""
    live, ended = [()], []
    for length in range(1, limit + 1):
        candidates = [(*tokens, token) for tokens in live for token in range(9) if token not in (PAD, BOS)]
        scored = forced_search(model, source.expand(len(candidates), -1), candidates, options=options)
        kept = sorted(scored, key=lambda one: -one.score)[:beam]
        ended += [one for one in kept if one.finished or length == limit]
        live = [one.tokens for one in kept if not one.finished]
        if not live:
            break
    return [one.tokens for one in sorted(ended, key=lambda one: (one.finished, one.normalised), reverse=True)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("beam", [2, 3])
def test_a_narrow_beam_keeps_what_the_textbook_algorithm_keeps(penalty: LengthPenalty, beam: int) -> None:
    options, most = Options(penalty=penalty), [6, 4, 6]
    for seed in range(5):
        model, source = Recurrent(9, seed, sharpness=4.0), sources(3, seed)
        found = beam_search(model, source, limits(*most), beam=beam, nbest=beam, options=options)
        for row, limit in enumerate(most):
            expected = plain_beam(model, source[row : row + 1], limit, beam, options)[:beam]
            assert [one.tokens for one in found[row]] == expected


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_stopping_early_never_changes_the_answer(penalty: LengthPenalty) -> None:
    """With nbest = beam nothing is hopeless until the n-best list is full; its best must equal that of nbest = 1."""
    options = Options(penalty=penalty)
    for seed in range(12):
        model, source, most = Recurrent(9, seed, sharpness=5.0), sources(2, seed), limits(12, 12)
        for beam in (2, 3, 5):
            quick = beam_search(model, source, most, beam=beam, nbest=1, options=options)
            patient = beam_search(model, source, most, beam=beam, nbest=beam, options=options)
            for one, many in zip(quick, patient, strict=True):
                assert one[0].tokens == many[0].tokens
                finished = [hypothesis.normalised for hypothesis in many if hypothesis.finished]
                assert finished == sorted(finished, reverse=True)


@given(seed=st.integers(0, 10_000), alpha=st.sampled_from([0.0, 0.7, 1.0]), ngram=st.sampled_from([0, 1, 2]))
@settings(max_examples=40, deadline=None)
def test_beam_1_is_greedy(seed: int, alpha: float, ngram: int) -> None:
    model, source = Recurrent(8, seed), sources(4, seed)
    options = Options(penalty=LengthPenalty(alpha), no_repeat_ngram=ngram)
    most = limits(9, 1, 4, 9)
    greedy = greedy_search(model, source, most, options=options)
    beam = beam_search(model, source, most, beam=1, options=options)
    assert [one.tokens for (one,) in beam] == [one.tokens for one in greedy]
    assert [one.score for (one,) in beam] == [one.score for one in greedy]
    for (one,), other in zip(beam, greedy, strict=True):
        assert torch.equal(one.weights, other.weights)


@given(seed=st.integers(0, 10_000), beam=st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_laws_of_the_n_best_list(seed: int, beam: int) -> None:
    model, source, most = Recurrent(7, seed), sources(3, seed), limits(6, 6, 2)
    for group, limit in zip(beam_search(model, source, most, beam=beam, nbest=beam), most.tolist(), strict=True):
        tokens = [one.tokens for one in group]
        assert 1 <= len(group) <= beam
        assert len(set(tokens)) == len(tokens), "duplicates"
        assert sorted(group, key=lambda one: (one.finished, one.normalised), reverse=True) == group
        for one in group:
            assert EOS not in one.tokens[:-1]
            assert one.finished == (one.tokens[-1] == EOS)
            assert one.finished or len(one.tokens) == limit
            assert not {PAD, BOS} & set(one.tokens)
            assert one.score == pytest.approx(sum(one.log_probabilities))
            assert one.weights.shape == (1, 1, len(one.tokens), source.shape[1])


def test_the_attention_and_score_are_those_of_the_hypothesis_itself() -> None:
    model, source = Recurrent(10, 5), sources(4, 5)
    found = beam_search(model, source, limits(8, 8, 8, 8), beam=4, nbest=4)
    for row, group in enumerate(found):
        for one in group:
            (forced,) = forced_search(model, source[row : row + 1], [one.tokens])
            assert forced.score == pytest.approx(one.score, abs=1e-5)
            torch.testing.assert_close(forced.weights, one.weights)


def test_a_batch_is_its_sentences_one_by_one() -> None:
    model, source, most = Recurrent(12, 3), sources(6, 3), [7, 3, 9, 1, 0, 5]
    together = beam_search(model, source, limits(*most), beam=3, nbest=3)
    for row, limit in enumerate(most):
        (alone,) = beam_search(model, source[row : row + 1], limits(limit), beam=3, nbest=3)
        assert [one.tokens for one in alone] == [one.tokens for one in together[row]]
        assert [one.score for one in alone] == pytest.approx([one.score for one in together[row]], abs=1e-5)


def test_prefixes_of_differing_lengths_are_kept_and_continued_as_if_alone() -> None:
    model, source, most = Recurrent(9, 1), sources(3, 1), limits(8, 8, 8)
    prefixes = [(5, 6, 7), (), (UNK,)]
    found = beam_search(model, source, most, beam=3, nbest=2, prefixes=prefixes, options=Options(forbid_unk=True))
    for row, (group, prefix) in enumerate(zip(found, prefixes, strict=True)):
        (alone,) = beam_search(
            model,
            source[row : row + 1],
            limits(8),
            beam=3,
            nbest=2,
            prefixes=[prefix],
            options=Options(forbid_unk=True),
        )
        assert [one.tokens for one in group] == [one.tokens for one in alone]
        for one in group:
            assert one.tokens[: len(prefix)] == prefix
            assert UNK not in one.tokens[len(prefix) :]
    (ended,) = beam_search(model, source[:1], limits(8), beam=3, nbest=3, prefixes=[(5, EOS)])
    assert [one.tokens for one in ended] == [(5, EOS)]


def test_the_first_expansion_starts_from_one_row_and_ended_sentences_leave() -> None:
    model, source = Recurrent(9, 2), sources(2, 2)
    beam_search(model, source, limits(2, 6), beam=4, nbest=4)
    assert model.rows[0] == 2
    assert all(rows <= 4 for rows in model.rows[2:]), "the sentence with limit 2 must be gone after two steps"
    assert len(model.rows) <= 6


def test_a_beam_wider_than_the_vocabulary_works() -> None:
    (group,) = beam_search(Recurrent(4, 0), sources(1), limits(3), beam=50, nbest=50)
    assert {one.tokens for one in group} == {
        (EOS,), (UNK, EOS), (UNK, UNK, EOS), (UNK, UNK, UNK),
    }  # fmt: skip
    assert [one.finished for one in group] == [True, True, True, False], "what was cut off comes last"


def test_the_recorded_tree_is_a_tree_and_holds_the_result() -> None:
    model, source, tree = Recurrent(9, 4), sources(2, 4), SearchTree()
    found = beam_search(model, source, limits(6, 6), beam=3, record=tree)
    plain = beam_search(model, source, limits(6, 6), beam=3)
    for sentence, (group, same) in enumerate(zip(found, plain, strict=True)):
        assert group[0].tokens == same[0].tokens
        nodes = {node.tokens: node for node in tree.of(sentence)}
        assert len(nodes) == len(tree.of(sentence))
        for node in nodes.values():
            if len(node.tokens) > 1:
                assert nodes[node.tokens[:-1]].fate == "kept"
        assert nodes[group[0].tokens].fate in ("finished", "cut")
        assert nodes[group[0].tokens].score == group[0].score
        kept = [node for node in nodes.values() if len(node.tokens) == 2 and node.fate != "pruned"]
        assert len(kept) <= 3


@pytest.mark.parametrize(("beam", "nbest"), [(0, 1), (2, 3), (2, 0)])
def test_impossible_widths_are_refused(beam: int, nbest: int) -> None:
    with pytest.raises(ValueError, match=f"got beam {beam} and nbest {nbest}"):
        beam_search(Recurrent(6, 0), sources(1), limits(3), beam=beam, nbest=nbest)
