"""The vocabulary is what the grammar can say: all of it, and a few hundred words."""

from typing import Any

import pytest

from regard.data.phrasebook import PAIRS


@pytest.mark.parametrize("pair", PAIRS)
def test_no_word_is_outside_the_vocabulary(pair: str, samples: dict[str, Any]) -> None:
    source, target = map(set, samples[pair]["vocabulary"])
    for item in (*samples[pair]["default"], *samples[pair]["short"]):
        assert source.issuperset(item["source"]), item
        assert target.issuperset(item["target"]), item


@pytest.mark.parametrize("pair", PAIRS)
def test_nearly_every_word_is_in_a_small_sample(pair: str, samples: dict[str, Any]) -> None:
    """No entry is dead, and none is so rare that a model could not learn it."""
    for side, words in zip(("source", "target"), samples[pair]["vocabulary"], strict=True):
        met = {word for item in (*samples[pair]["default"], *samples[pair]["short"]) for word in item[side]}
        assert len(met & set(words)) > 0.95 * len(words)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_few_hundred_words(pair: str, samples: dict[str, Any]) -> None:
    source, target = samples[pair]["vocabulary"]
    assert 250 <= len(source) <= 500
    assert 250 <= len(target) <= 500
    assert list(source) == sorted(set(source))
    assert list(target) == sorted(set(target))
