"""The decoders that are timed say the same, and end their sentences."""

import pytest
import torch

from decoding_measure import beam_ours, limit, measure_decoding, random_sentences, settings, spread
from decoding_textbook import textbook_search, wind
from regard.lab.bench.textbook import Textbook, ours_with
from regard.lab.bench.workload import Work
from regard.registry import prepare_for_decoding
from regard.text.special import EOS

SMALL = Work("small", "gru", 40, 6, 16, 8, 4, 5, 5)


def wound(words: int, seed: int = 0) -> Textbook:
    torch.manual_seed(seed)
    textbook = Textbook(SMALL).eval()
    wind(textbook, words)
    return textbook


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_ours_and_the_textbook_decode_the_same(seed: int, beam: int) -> None:
    textbook, group = wound(6, seed), random_sentences(7, 40, seed)
    ours = beam_ours(prepare_for_decoding(ours_with(textbook).eval()), group, settings(beam))
    theirs = [textbook_search(textbook, torch.tensor(one), beam, limit(len(one))) for one in group]
    assert [one.tokens for one in ours] == [one.words for one in theirs]
    assert [one.normalised for one in ours] == pytest.approx([one.mean for one in theirs], abs=1e-5)


def test_a_limit_cuts_the_textbook_off() -> None:
    found = textbook_search(wound(30), torch.tensor([5, 6]), 3, 4)
    assert len(found.words) == 4
    assert EOS not in found.words


def test_sentences_end_at_the_given_step() -> None:
    lengths = [len(textbook_search(wound(words), torch.tensor([5, 6, 7, 8] * 4), 3, 42).words) for words in (4, 10, 20)]
    assert lengths == sorted(lengths)
    assert lengths[0] + 4 < lengths[2] < 42


def test_an_lstm_has_no_clock() -> None:
    with pytest.raises(ValueError, match="GRU"):
        wind(Textbook(Work("small", "lstm", 40, 6, 16, 8, 4, 5, 5)), 5)


def test_the_figures() -> None:
    figures = measure_decoding(SMALL, random_sentences(70, 40), beam=3, sample=3, alone=1, words=5)
    assert (figures.sentences, figures.compared, figures.agreement) == (70, 6, 1.0)
    assert figures.apart is not None
    assert figures.apart < 1e-4
    assert figures.ratio > 0
    assert figures.ours.tokens_per_second > figures.ours.sentences_per_second > 0
    assert figures.other.name == "textbook"


def test_a_sample_is_spread_out() -> None:
    assert spread(64, 3) == [0, 32, 63]
    assert spread(2, 5) == [0, 1]
    assert spread(5, 1) == [0]
