"""Ensembles: probabilities are averaged, and every search works with them."""

import pytest
import torch

from regard.search import Ensemble, Stepper, beam_search, greedy_search

from .markov import Markov
from .recurrent import BOS, Recurrent, RecurrentStep, limits, sources


def test_probabilities_are_the_mean_of_the_members() -> None:
    draw = torch.Generator().manual_seed(0)
    members = [Markov(torch.randn(6, 6, generator=draw)) for _ in range(3)]
    ensemble = Ensemble(members)
    step = ensemble.step(torch.tensor([BOS]), ensemble.start(None))
    mean = torch.stack([member.table[BOS].softmax(-1) for member in members]).mean(0)
    torch.testing.assert_close(step.logits.softmax(-1)[0], mean)
    torch.testing.assert_close(step.logits.exp().sum(-1), torch.ones(1))
    assert step.weights is None


def test_an_ensemble_of_copies_equals_the_model() -> None:
    model, source, most = Recurrent(9, 2), sources(3, 2), limits(6, 6, 6)
    alone = beam_search(model, source, most, beam=3, nbest=3)
    together = beam_search(Ensemble([model, model]), source, most, beam=3, nbest=3)
    for group, others in zip(alone, together, strict=True):
        assert [one.tokens for one in group] == [one.tokens for one in others]
        for one, other in zip(group, others, strict=True):
            torch.testing.assert_close(one.weights, other.weights)


def test_beam_search_reorders_every_member() -> None:
    ensemble, source = Ensemble([Recurrent(9, 2), Recurrent(9, 3)]), sources(4, 2)
    together = beam_search(ensemble, source, limits(6, 6, 6, 6), beam=3)
    for row, (one,) in enumerate(together):
        ((alone,),) = beam_search(ensemble, source[row : row + 1], limits(6), beam=3)
        assert one.tokens == alone.tokens
        assert one.score == pytest.approx(alone.score, abs=1e-5)


class Headed:
    """A model whose attention is repeated for a number of layers and heads."""

    def __init__(self, model: Recurrent, layers: int, heads: int, positions: int | None = None) -> None:
        self.model, self.layers, self.heads, self.positions = model, layers, heads, positions

    def start(self, source):
        return self.model.start(source)

    def step(self, tokens, state) -> RecurrentStep:
        step = self.model.step(tokens, state)
        weights = step.weights[..., : self.positions].expand(-1, self.layers, self.heads, -1)
        return RecurrentStep(step.logits, step.state, weights)


def test_attention_of_unlike_members_is_averaged_over_layers_and_heads_first() -> None:
    first, second, source = Recurrent(9, 0), Recurrent(9, 1), sources(2)
    expected = [one.weights for one in greedy_search(Ensemble([first, second]), source, limits(4, 4))]
    mixed = greedy_search(Ensemble([first, Headed(second, 2, 4)]), source, limits(4, 4))
    for one, weights in zip(mixed, expected, strict=True):
        torch.testing.assert_close(one.weights, weights)
    same = greedy_search(Ensemble([Headed(first, 2, 4), Headed(second, 2, 4)]), source, limits(4, 4))
    assert same[0].weights.shape[:2] == (2, 4)


def test_members_that_read_different_pieces_have_no_common_attention() -> None:
    members = [Recurrent(9, 0), Headed(Recurrent(9, 1), 1, 1, positions=3)]
    assert greedy_search(Ensemble(members), sources(1), limits(3))[0].weights is None


def test_members_without_attention_are_left_out_of_the_mean() -> None:
    model, table = Recurrent(6, 0), Markov(torch.zeros(6, 6))
    (one,) = greedy_search(Ensemble([table, model]), sources(1), limits(1))
    assert one.weights.shape == (1, 1, 1, 5)


def test_differing_vocabularies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must share one vocabulary, theirs have \[9, 7\] entries"):
        greedy_search(Ensemble([Recurrent(9, 0), Recurrent(7, 0)]), sources(1), limits(2))


def test_an_ensemble_of_nothing_is_refused_and_a_real_one_is_a_stepper() -> None:
    with pytest.raises(ValueError, match="at least one model"):
        Ensemble([])
    assert isinstance(Ensemble([Recurrent(9, 0)]), Stepper)
