"""Issue 13, item 3: the product of beam, lengths and heads is bounded before a search starts."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import regard
from regard.bounds import MOST
from regard.runtime.search_size import PIECES, ROWS, SearchSize
from regard.runtime.source_text import SourceText, read_source
from regard.runtime.traced import SentenceToTrace, Tracing, translate_traced
from regard.search import SearchConfig
from regard.text.input_error import InputError
from runtime.bundles import untrained


def sources(bundle: Path, *lengths: int) -> list[SourceText]:
    tokenizer = regard.load(bundle).bundle.source
    return [read_source("cat " * length, tokenizer, eos=False, longest=MOST["longest"]) for length in lengths]


def test_a_beam_of_long_hypotheses_is_refused_in_a_recipe() -> None:
    assert SearchConfig(beam=10, longest=100_000).beam == 10
    for wrong in ({"beam": 1000, "longest": 100_000}, {"temperature": 1.0, "nbest": 1000, "longest": 100_000}):
        with pytest.raises(ValidationError, match="1,000 hypotheses × longest 100,000 are more than 1,000,000 pieces"):
            SearchConfig.model_validate(wrong)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"beam": 1000, "longest": {"factor": 100, "offset": 100_000}}, "keep 100,000,000 pieces, at most 1,000,000"),
        ({"beam": 1000, "longest": 100_000}, "lower beam"),
    ],
)
def test_a_search_that_would_exhaust_the_memory_is_refused(
    tmp_path: Path, search: dict[str, Any], message: str
) -> None:
    translator = regard.load(untrained(tmp_path / "bundle"))
    with pytest.raises(InputError, match=message):
        translator.translate("the cat", **search)
    with pytest.raises(InputError, match=message):
        translate_traced(translator, [SentenceToTrace("the cat")], search, Tracing())


def test_attention_over_a_long_text_is_refused(tmp_path: Path) -> None:
    bundle = untrained(tmp_path / "bundle")
    long = sources(bundle, 60_000)
    with pytest.raises(InputError, match="keep 6,000,000,000 attention weights over 60,000 source pieces"):
        SearchSize(SearchConfig(), None, (1, 1)).groups(long)
    with pytest.raises(InputError, match="shorten the target"):
        SearchSize(SearchConfig(), None, (1, 1), forced=60_000).groups(long)


def test_self_attention_over_a_long_text_is_refused(tmp_path: Path) -> None:
    translator = regard.load(untrained(tmp_path / "bundle", "transformer"))
    heads = translator.bundle.manifest.model.heads
    size = SearchSize(SearchConfig(longest=1), None, (1, heads), encoder_heads=heads)
    assert size.together(100) > 1
    with pytest.raises(
        InputError, match=f"attends to {heads * 20_000**2:,} pairs of its 20,000 pieces .* break the text"
    ):
        size.together(20_000)


def test_wide_beams_decode_fewer_texts_at_once(tmp_path: Path) -> None:
    many = sources(untrained(tmp_path / "bundle"), *[50] * 100)
    narrow = SearchSize(SearchConfig(), None, (6, 8)).groups(many)
    wide = SearchSize(SearchConfig(beam=100), None, (6, 8)).groups(many)
    assert len(narrow[0]) == min(ROWS, PIECES // 50)
    assert 1 <= len(wide[0]) < len(narrow[0])
    assert sorted(i for group in wide for i in group) == list(range(100))
    assert 100 * 110 * 48 * 50 * len(wide[0]) <= MOST["weights"]


def test_texts_that_do_not_fit_into_one_batch_give_the_same_translations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = regard.load(untrained(tmp_path / "bundle"))
    texts = ["the black cat", "jane visits africa", " ", "the mat", "the cat sat on the mat"]
    plain = [one.text for one in translator.translate(texts, beam=2)]
    monkeypatch.setitem(MOST, "weights", 1000)
    assert [one.text for one in translator.translate(texts, beam=2)] == plain
    traced = translate_traced(translator, [SentenceToTrace(text) for text in texts], {"beam": 2}, Tracing())
    assert [one.found[0].translation.text if one.found else "" for one in traced] == plain
