"""Every search gives the same result on a GPU as on the CPU."""

import pytest
import torch

from regard.search import Options, Sampler, beam_search, forced_search, greedy_search, sample_search

from .markov import uniform
from .recurrent import Recurrent, limits, sources

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]


def test_every_search() -> None:
    source, most, options = sources(6), limits(8, 3, 8, 0, 1, 8), Options(no_repeat_ngram=2)
    model, prefixes = Recurrent(12, 0).double(), [(5, 6), (), (7,), (), (), ()]
    here = beam_search(model, source, most, beam=3, nbest=3, options=options, prefixes=prefixes)
    greedy = greedy_search(model, source, most, options=options)
    model, source, most = model.cuda(), source.cuda(), most.cuda()
    there = beam_search(model, source, most, beam=3, nbest=3, options=options, prefixes=prefixes)
    for group, other in zip(here, there, strict=True):
        assert [one.tokens for one in group] == [one.tokens for one in other]
        for one, same in zip(group, other, strict=True):
            torch.testing.assert_close(one.weights, same.weights.cpu())
    on_device = greedy_search(model, source, most, options=options)
    assert [one.tokens for one in on_device] == [one.tokens for one in greedy]
    forced = forced_search(model, source, [one.tokens for one in on_device], device="cuda")
    assert [one.score for one in forced] == pytest.approx([one.score for one in on_device])
    drawn = sample_search(model, source, most, torch.Generator("cuda").manual_seed(0), sampler=Sampler(top_k=1))
    top = greedy_search(model, source, most)
    assert [group[0].tokens for group in drawn] == [one.tokens for one in top]


def test_the_search_that_stays_on_the_device() -> None:
    source, most, model = sources(40, longest=9), torch.arange(40), Recurrent(30, 1).double()
    here = beam_search(model, source, most, beam=4, nbest=2)
    there = beam_search(model.cuda(), source.cuda(), most.cuda(), beam=4, nbest=2)
    assert [[one.tokens for one in group] for group in here] == [[one.tokens for one in group] for group in there]


def test_ties_go_to_the_lowest_id() -> None:
    table = uniform(5000, torch.bfloat16)
    model = type(table)(table.table.cuda())
    (group,) = beam_search(model, None, limits(1).cuda(), beam=4, nbest=4)
    assert [one.tokens for one in group] == [(3,), (1,), (4,), (5,)]
