"""Search that chooses by tensor operations finds the hypotheses of the plain loop, ties included."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.fast.search.beam_slots import first_best
from regard.fast.search.search_entries import search_captured
from regard.search import Hypothesis, LengthPenalty, Options, beam_search, greedy_search
from regard.search.stepper import Stepper
from search.markov import uniform
from search.recurrent import Recurrent, limits, sources


def on_device(
    model: Stepper, source: Tensor | None, most: Tensor, beam: int, nbest: int, options: Options
) -> list[list[Hypothesis]]:
    found = search_captured(model, source, most, beam, nbest, options)
    assert found is not None
    return found


def assert_same(found: list[list[Hypothesis]], wanted: list[list[Hypothesis]]) -> None:
    assert [[one.tokens for one in group] for group in found] == [[one.tokens for one in group] for group in wanted]
    for group, other in zip(found, wanted, strict=True):
        for one, same in zip(group, other, strict=True):
            assert (one.finished, len(one.log_probabilities)) == (same.finished, len(same.log_probabilities))
            assert one.normalised == pytest.approx(same.normalised, rel=1e-12)
            assert one.score == pytest.approx(same.score, rel=1e-12)
            assert (one.weights is None) == (same.weights is None)
            if one.weights is not None:
                torch.testing.assert_close(one.weights, same.weights)


OPTIONS = (
    Options(),
    Options(forbid_unk=True, penalty=LengthPenalty(0.6, "gnmt")),
    Options(penalty=LengthPenalty(0.0)),
    Options(weights=False, penalty=LengthPenalty(2.0)),
)


@pytest.mark.parametrize(("beam", "nbest"), [(1, 1), (2, 1), (3, 3), (5, 2)])
def test_every_beam(beam: int, nbest: int) -> None:
    for seed in range(12):
        model, source = Recurrent(11, seed).double(), sources(6, seed, 6)
        most, options = limits(9, 4, 1, 20, 7, 12), OPTIONS[seed % len(OPTIONS)]
        wanted = beam_search(model, source, most, beam=beam, nbest=nbest, options=options)
        assert_same(on_device(model, source, most, beam, nbest, options), wanted)


def test_greedy() -> None:
    model, source, most = Recurrent(11, 3).double(), sources(4), limits(9, 2, 30, 5)
    found = on_device(model, source, most, 1, 1, Options())
    assert_same(found, [[one] for one in greedy_search(model, source, most)])


def test_a_beam_wider_than_the_vocabulary() -> None:
    model, source, most = Recurrent(5, 1).double(), sources(3), limits(4, 6, 2)
    wanted = beam_search(model, source, most, beam=9, nbest=9)
    assert_same(on_device(model, source, most, 9, 9, Options()), wanted)


def test_ties_go_to_the_earlier_row_and_the_lower_id() -> None:
    model, most = uniform(300, torch.bfloat16), limits(3)
    wanted = beam_search(model, None, most, beam=4, nbest=4)
    assert_same(on_device(model, None, most, 4, 4, Options()), wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_first_best_equals_a_stable_sort(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(-3, 3, (50, 40), generator=generator).to(dtype) / 3
    scores[0, :] = -torch.inf
    scores[1, ::2], scores[1, 1::2] = -0.0, 0.0
    scores[2, 7] = torch.inf
    exact = scores.sort(dim=1, descending=True, stable=True)
    for count in (1, 2, 7, 40, 50):
        values, ids = first_best(scores, count)
        assert torch.equal(ids, exact.indices[:, :count])
        assert torch.equal(values, exact.values[:, :count])


def test_errors_are_those_of_the_plain_loop() -> None:
    model, source, most = Recurrent(11, 0), sources(3), limits(4, 4, 4)
    with torch.no_grad():
        model.source.weight[source[1, 0]] = torch.nan
    with pytest.raises(ValueError, match="NaN") as host:
        beam_search(model, source, most, beam=2)
    with pytest.raises(ValueError, match="NaN") as device:
        on_device(model, source, most, 2, 1, Options())
    assert str(device.value) == str(host.value)
    only = uniform(2, torch.float32)
    with pytest.raises(ValueError, match="no token is possible") as host:
        greedy_search(only, None, limits(3), options=replace(Options(), pad=0, bos=1, eos=9))
    with pytest.raises(ValueError, match="no token is possible") as device:
        on_device(only, None, limits(3), 1, 1, replace(Options(), pad=0, bos=1, eos=9))
    assert str(device.value) == str(host.value)
