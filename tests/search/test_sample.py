"""Sampling: the frequencies of draws follow the requested distribution."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.search import Options, Sampler, forced_search, greedy_search, sample_search

from .markov import Markov
from .recurrent import EOS, PAD, UNK, Recurrent, limits, sources

LOGITS = torch.tensor([0.3, -0.2, 0.9, 0.5, 1.5, -1.0, 0.1, 1.0])
MODEL = Markov(LOGITS.expand(8, 8).contiguous())


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def frequencies(sampler: Sampler, options: Options | None = None, draws: int = 8_000) -> torch.Tensor:
    (group,) = sample_search(MODEL, None, limits(1), generator(), sampler=sampler, samples=draws, options=options)
    return torch.bincount(torch.tensor([one.tokens[0] for one in group]), minlength=8) / draws


def expected(temperature: float, keep: list[int]) -> torch.Tensor:
    kept = torch.full((8,), -torch.inf)
    kept[keep] = LOGITS[keep] / temperature
    return kept.softmax(-1)


@pytest.mark.parametrize(
    ("sampler", "options", "reference"),
    [
        (Sampler(), Options(), expected(1.0, [1, 3, 4, 5, 6, 7])),
        (Sampler(), Options(forbid_unk=True), expected(1.0, [3, 4, 5, 6, 7])),
        (Sampler(temperature=0.5), Options(), expected(0.5, [1, 3, 4, 5, 6, 7])),
        (Sampler(temperature=3.0), Options(), expected(3.0, [1, 3, 4, 5, 6, 7])),
        (Sampler(top_k=2), Options(), expected(1.0, [4, 7])),
        (Sampler(temperature=2.0, top_k=3), Options(), expected(2.0, [3, 4, 7])),
        (Sampler(top_p=0.6), Options(), expected(1.0, [4, 7])),
        (Sampler(top_p=0.65), Options(), expected(1.0, [3, 4, 7])),
        (Sampler(top_p=1.0), Options(), expected(1.0, [1, 3, 4, 5, 6, 7])),
    ],
    ids=range(9),
)
def test_frequencies(sampler: Sampler, options: Options, reference: torch.Tensor) -> None:
    drawn = frequencies(sampler, options)
    # Five standard errors of a proportion at 8,000 draws.
    assert ((drawn - reference).abs() <= 5 * (reference * (1 - reference) / 8_000).sqrt() + 1e-9).all()


@given(
    scores=st.lists(st.floats(-20, 5, width=32), min_size=2, max_size=12),
    temperature=st.floats(0.1, 5),
    top_k=st.none() | st.integers(1, 15),
    top_p=st.none() | st.floats(0.01, 1),
)
def test_the_distribution_is_a_trimmed_softmax(scores, temperature, top_k, top_p) -> None:
    row = torch.tensor([scores])
    result = Sampler(temperature, top_k, top_p).distribution(row)
    torch.testing.assert_close(result.sum(-1), torch.ones(1))
    kept = result[0] > 0
    if top_k is not None:
        assert kept.sum() <= top_k
    assert result[0].max() == result[0, row[0].argmax()]
    full = torch.softmax(row / temperature, -1)[0]
    if top_k is None and top_p is not None:
        assert full[kept].sum() >= top_p - 1e-5, "the kept mass must reach top_p"
        if kept.sum() > 1:
            assert full[kept].sum() - full[kept].min() < top_p + 1e-5, "one token fewer must not"
    torch.testing.assert_close(result[0, kept], full[kept] / full[kept].sum())


def test_equal_generator_states_give_equal_draws_and_the_global_generator_is_not_used() -> None:
    model, source, before = Recurrent(9, 0), sources(3), torch.random.get_rng_state()
    draws = [sample_search(model, source, limits(6, 6, 6), generator(seed), samples=4) for seed in (1, 1, 2)]
    tokens = [[one.tokens for group in draw for one in group] for draw in draws]
    assert tokens[0] == tokens[1] != tokens[2]
    assert torch.equal(before, torch.random.get_rng_state())


def test_scores_and_attention_do_not_depend_on_the_temperature() -> None:
    model, source = Recurrent(9, 0), sources(2)
    found = sample_search(model, source, limits(6, 0), generator(), sampler=Sampler(3.0), samples=3)
    assert [len(group) for group in found] == [3, 3]
    for one in found[0]:
        (forced,) = forced_search(model, source[:1], [one.tokens])
        assert one.score == pytest.approx(forced.score, abs=1e-5)
        torch.testing.assert_close(one.weights, forced.weights)
    assert all(one.tokens == () for one in found[1])


def test_top_1_is_greedy() -> None:
    model, source = Recurrent(9, 5), sources(4, 5)
    most = limits(6, 6, 6, 6)
    drawn = sample_search(model, source, most, generator(), sampler=Sampler(top_k=1))
    assert [group[0].tokens for group in drawn] == [one.tokens for one in greedy_search(model, source, most)]


def test_samples_begin_with_their_prefixes() -> None:
    (group,) = sample_search(MODEL, None, limits(4), generator(), samples=20, prefixes=[(UNK, 5)])
    assert all(one.tokens[:2] == (UNK, 5) and PAD not in one.tokens for one in group)
    assert any(one.tokens[-1] == EOS for one in group)


def test_nan_models_raise_instead_of_sampling() -> None:
    with pytest.raises(ValueError, match=r"NaN.* at step 1"):
        sample_search(Markov(MODEL.table - 99 * torch.eye(8)[EOS], broken=1), None, limits(3), generator())
    only_unknown = torch.full((8, 8), -torch.inf)
    only_unknown[:, UNK] = 0.0
    with pytest.raises(ValueError, match="no token is possible at step 0"):
        sample_search(Markov(only_unknown), None, limits(3), generator(), options=Options(forbid_unk=True))


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="samples must be 1 or more, got 0"):
        sample_search(MODEL, None, limits(1), generator(), samples=0)
