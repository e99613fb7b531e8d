"""JoeyNMT's search and ours on the same numbers; the package is no dependency, most is skipped without it."""

import pytest
import torch

import decoding_joey
from decoding_joey import (
    beam_joey,
    joey_model,
    joey_settings,
    joey_version,
    measure_joey,
    ours_with_joey,
)
from decoding_measure import beam_ours, random_sentences
from regard.lab.bench.workload import Work
from regard.text.special import EOS

SMALL = Work("small", "gru", 40, 6, 16, 16, 4, 5, 5)
installed = pytest.mark.skipif(joey_version() is None, reason="JoeyNMT is not installed")


def test_nothing_is_measured_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_joey, "joey_version", lambda: None)
    assert measure_joey(SMALL) is None


@installed
@pytest.mark.filterwarnings("ignore")
def test_greedy_search_gives_the_same() -> None:
    torch.manual_seed(0)
    model, group = joey_model(SMALL, 6), random_sentences(9, 40)
    ours = beam_ours(ours_with_joey(model, SMALL), group, joey_settings(group, 1))
    theirs = beam_joey(model, group, 1)
    assert [one.tokens for one in ours] == theirs
    assert any(one[-1] == EOS for one in theirs)


@installed
@pytest.mark.filterwarnings("ignore")
def test_the_figures() -> None:
    figures = measure_joey(SMALL, random_sentences(70, 40), beam=3, words=5)
    assert figures is not None
    assert figures.agreement == 1.0
    assert figures.other.name.startswith("JoeyNMT")
