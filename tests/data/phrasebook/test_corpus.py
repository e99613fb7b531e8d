"""The corpus: distinct sources, deterministic, stable splits, the requested lengths, one target for each source."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from regard.data import phrasebook
from regard.data.phrasebook.corpus import language

PAIRS = ("en-fr", "fr-en", "en-hi")
Sample = dict[str, Any]


@pytest.fixture(params=PAIRS)
def sample(request: pytest.FixtureRequest, samples: Sample) -> Sample:
    return samples[request.param]  # type: ignore[no-any-return]


def test_pairs_are_named() -> None:
    assert phrasebook.PAIRS == PAIRS


def test_sources_are_distinct_and_spread_over_the_lengths(sample: Sample) -> None:
    sources = [pair["source"] for pair in sample["default"]]
    assert len(set(map(tuple, sources))) == len(sources) == 3_000
    lengths = Counter(map(len, sources))
    assert set(lengths) == set(range(3, 21))
    assert min(lengths.values()) > len(sources) / 18 / 2, "no length is starved"
    assert max(lengths.values()) < len(sources) / 18 * 2, "none takes all"


def test_words_are_lower_case_without_a_final_stop(sample: Sample) -> None:
    for pair in sample["default"]:
        for words in (pair["source"], pair["target"]):
            assert all(word == word.lower() for word in words)
            assert all(word == "," or word.strip(".,!?") == word for word in words)
            assert words[0] != "," != words[-1]


def test_links_are_in_range_and_reach_every_target_word(sample: Sample) -> None:
    for pair in sample["default"]:
        assert {position for _, position in pair["possible"]} == set(range(len(pair["target"]))), pair
        assert {position for position, _ in pair["possible"]} <= set(range(len(pair["source"]))), pair


def test_no_target_word_has_two_sure_links(sample: Sample) -> None:
    """An aligner that gives each target word its best source word can then be without error."""
    for pair in sample["default"]:
        assert max(Counter(position for _, position in pair["sure"]).values()) == 1, pair


def test_commas_link_to_commas(sample: Sample) -> None:
    for pair in sample["default"]:
        commas = [link for link in pair["sure"] if pair["target"][link[1]] == ","]
        assert all(pair["source"][position] == "," for position, _ in commas)
        assert len(commas) == pair["source"].count(",") == pair["target"].count(",")


@pytest.mark.parametrize(("kind", "repeats"), [("short", 500), ("structures", 1_500)])
def test_one_source_has_one_target(sample: Sample, kind: str, repeats: int) -> None:
    """Short sentences recur with another seed, structures with a tiny lexicon; links must agree as well."""
    known: dict[tuple[str, ...], Any] = {}
    repeated = 0
    for pair in sample[kind]:
        source = tuple(pair["source"])
        repeated += source in known
        assert known.setdefault(source, pair) == pair
    assert repeated > repeats, "the test saw hardly any sentence twice"


@pytest.mark.parametrize("pair", PAIRS)
def test_splits_and_showcase_share_no_sentence(pair: str, samples: Sample) -> None:
    found = {split: set(sources) for split, sources in samples[pair]["splits"].items()}
    shown = {item.source for item in phrasebook.showcase(pair)}
    assert not found["train"] & found["dev"]
    assert not found["train"] & found["test"]
    assert not found["dev"] & found["test"]
    assert not shown & (found["train"] | found["dev"] | found["test"])
    for split, sources in found.items():
        assert {phrasebook.split_of(source) for source in sources} == {split}


def test_showcase_is_left_out_although_the_grammar_finds_it(samples: Sample) -> None:
    short = {" ".join(pair["source"]) for pair in samples["en-fr"]["short"]}
    assert phrasebook.split_of("i love you") == phrasebook.split_of("she loves you") == "train"
    assert "she loves you" in short
    assert "i love you" not in short


def test_the_seed_determines_the_pairs() -> None:
    assert phrasebook.pairs("en-fr", "dev", 20, seed=1) == phrasebook.pairs("en-fr", "dev", 20, seed=1)
    assert phrasebook.pairs("en-fr", "dev", 20, seed=1) != phrasebook.pairs("en-fr", "dev", 20, seed=2)


def test_same_pairs_in_every_process(run: Callable[..., str]) -> None:
    script = (
        "from regard.data import phrasebook as p\n"
        "print([[(x.source, x.target, sorted(x.links.possible)) for x in p.pairs(q, 'test', 30, 5)] for q in p.PAIRS])"
    )
    assert run("-c", script, hash_seed="0") == run("-c", script, hash_seed="77")


def test_any_range_of_lengths(sample: Sample) -> None:
    for shortest, longest, pairs in sample["ranges"]:
        lengths = {len(pair["source"]) for pair in pairs}
        assert shortest <= min(lengths)
        assert max(lengths) <= longest
        if longest > shortest:
            assert max(lengths) - min(lengths) > (longest - shortest) / 2, "spread over the range"


def test_french_sources_have_no_ambiguous_clitic() -> None:
    """`il l'aide` may be him or her: as a source it is left out, unless a past participle shows which."""
    ambiguous = set(language("fr-en").stock.ambiguous)
    assert {"love", "help", "call", "wait for"} <= ambiguous
    assert "see" not in ambiguous
    assert not language("en-fr").stock.ambiguous


def test_a_count_of_zero_gives_no_pairs() -> None:
    assert phrasebook.pairs("en-fr", "train", 0) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("en-de", "train", 5), "no pair 'en-de'; valid pairs are en-fr, fr-en, en-hi"),
        (("en-fr", "valid", 5), "no split 'valid'; valid splits are train, dev, test"),
        (("en-fr", "train", -1), "-1 sentences were requested; request 0 or more"),
        (("en-fr", "train", 5, 0, 2, 20), "no sentences of 2 to 20 words: choose 3 <= shortest <= longest <= 120"),
        (("en-fr", "train", 5, 0, 9, 8), "no sentences of 9 to 8 words: choose 3 <= shortest <= longest <= 120"),
        (("en-fr", "train", 5, 0, 9, 121), "no sentences of 9 to 121 words: choose 3 <= shortest <= longest <= 120"),
    ],
)
def test_invalid_arguments_raise(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        phrasebook.pairs(*arguments)


def test_a_count_above_the_number_of_sentences_raises(samples: Sample) -> None:
    message = samples["exhausted"]
    assert "the phrasebook's test split of en-fr seems to have no more than" in message
    assert "of 3 to 3 words, 10000 were requested; request fewer, or a wider range of lengths" in message


def test_showcase_of_unknown_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="valid pairs are en-fr, fr-en, en-hi"):
        phrasebook.showcase("fr-hi")


@pytest.mark.parametrize("pair", PAIRS)
def test_hundreds_of_millions_of_sentences(pair: str, samples: Sample) -> None:
    """Any three single clauses of at most five words make, with two connectors, a sentence of at most seventeen."""
    joints = {"et", "mais", "parce", "que", "qu'", ","} if pair == "fr-en" else {"and", "but", "because", "that", ","}
    found = {tuple(item["source"]) for item in samples[pair]["short"] if joints.isdisjoint(item["source"])}
    assert len(found) ** 3 * 9 > 500_000_000
