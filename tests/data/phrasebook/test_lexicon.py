"""The lexicon files: every word of them occurs in the corpus, and they are written in composed Unicode."""

import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from regard.data.phrasebook import PAIRS
from regard.data.phrasebook.lexicon import MISSING, french, hindi

LEXICON = files("regard") / "data" / "phrasebook" / "lexicon"


def forms(value: Any) -> Iterator[str]:
    """The word forms of a noun, adjective or verb; genders are no forms."""
    if isinstance(value, tuple):
        for one in value:
            yield from forms(one)
    elif isinstance(value, str) and value not in ("", "m", "f", MISSING):
        yield from value.split()


def words_of(pair: str, side: str, samples: dict[str, Any]) -> set[str]:
    return {word for item in (*samples[pair]["default"], *samples[pair]["short"]) for word in item[side]}


@pytest.mark.parametrize("name", ["english", "french", "hindi"])
def test_lexicon_is_in_composed_unicode(name: str) -> None:
    assert unicodedata.is_normalized("NFC", (LEXICON / f"{name}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("pair", "tables"),
    [
        ("en-fr", (french().nouns, french().adjectives, french().verbs)),
        ("en-hi", (hindi().nouns, hindi().adjectives, hindi().conjugations)),
    ],
)
def test_nearly_every_form_is_in_a_small_sample(pair: str, tables: Any, samples: dict[str, Any]) -> None:
    """No entry is dead, and none is so rare that a model could not learn it."""
    written = {form for table in tables for entry in table.values() for form in forms(entry)}
    missing = written - words_of(pair, "target", samples)
    assert len(missing) < 0.06 * len(written), sorted(missing)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_sample_has_a_few_hundred_different_words(pair: str, side: str, samples: dict[str, Any]) -> None:
    assert 250 <= len(words_of(pair, side, samples)) <= 500
