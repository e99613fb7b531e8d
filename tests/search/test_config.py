"""The [search] table, and the call that runs it."""

import pytest
import torch
from pydantic import ValidationError

from regard.search import LengthPenalty, Sampler, SearchConfig, beam_search, decode, greedy_search, sample_search

from .recurrent import Recurrent, limits, sources


def test_limits_follow_the_source_or_are_absolute() -> None:
    lengths = torch.tensor([0, 1, 7], dtype=torch.int32)
    assert SearchConfig().limits(lengths).tolist() == [10, 12, 24]
    assert SearchConfig.model_validate({"longest": 9}).limits(lengths).tolist() == [9, 9, 9]
    table = {"longest": {"factor": 1.5, "offset": 2}}
    assert SearchConfig.model_validate(table).limits(lengths).tolist() == [2, 4, 13]


def test_options_and_sampler_come_from_the_table() -> None:
    config = SearchConfig(
        length_penalty=0.6, length_form="gnmt", no_repeat_ngram=3, forbid_unk=True, temperature=0.7, top_k=5, top_p=0.9
    )
    assert config.options.penalty == LengthPenalty(0.6, "gnmt")
    assert (config.options.no_repeat_ngram, config.options.forbid_unk) == (3, True)
    assert config.sampler == Sampler(0.7, 5, 0.9)
    assert SearchConfig().sampler is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"beams": 3}, "Extra inputs"),
        ({"beam": 0}, "greater than or equal to 1"),
        ({"beam": 2, "nbest": 3}, "nbest 3 is more than beam 2 can find; raise beam to 3"),
        ({"top_k": 3}, "top_k and top_p need a temperature; 1.0 leaves"),
        ({"beam": 2, "temperature": 1.0}, "temperature means sampling and beam 2 means beam search"),
        ({"longest": -1}, "greater than or equal to 0"),
        ({"length_penalty": -0.1}, "greater than or equal to 0"),
        ({"longest": {"factor": 1.0, "extra": 2}}, "Extra inputs"),
    ],
)
def test_wrong_tables_are_refused(table, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SearchConfig.model_validate(table)


def test_the_length_penalty_follows_its_formula() -> None:
    assert LengthPenalty(0.0).divisor(7) == 1.0
    assert LengthPenalty(1.0).divisor(7) == 7.0
    assert LengthPenalty(0.5).divisor(9) == 3.0
    assert LengthPenalty(1.0, "gnmt").divisor(7) == 2.0
    assert LengthPenalty(1.0).normalise(0.0, 0) == 0.0


def test_decode_runs_the_configured_search() -> None:
    model, source = Recurrent(9, 0), sources(3)
    lengths = (source != 0).sum(1)
    most = SearchConfig().limits(lengths)

    def tokens(groups):
        return [[one.tokens for one in group] for group in groups]

    assert tokens(decode(model, source, lengths, SearchConfig())) == [
        [one.tokens] for one in greedy_search(model, source, most)
    ]
    assert tokens(decode(model, source, lengths, SearchConfig(beam=3, nbest=2))) == tokens(
        beam_search(model, source, most, beam=3, nbest=2)
    )
    drawn = sample_search(model, source, most, torch.Generator().manual_seed(5), samples=2)
    assert tokens(decode(model, source, lengths, SearchConfig(temperature=1.0, nbest=2, seed=5))) == tokens(drawn)
    assert decode(model, sources(0), limits(), SearchConfig()) == []
