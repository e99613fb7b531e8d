"""The survey of a corpus finds its problems, and no others."""

from collections.abc import Iterable

import numpy as np
import pytest

from regard.data.pair import Pair
from regard.lab.finding import Finding
from regard.lab.survey import Survey, check_overlap

CLEAN = [Pair(f"the word {i} is" + " here" * (i % 9), f"le mot {i} est" + " ici" * (i % 9)) for i in range(60)]


def survey(pairs: Iterable[Pair]) -> Survey:
    return Survey((f"line {number}", pair) for number, pair in enumerate(pairs, 1))


def odd(*pairs: Pair) -> list[Finding]:
    return [one for one in survey([*CLEAN, *pairs]).findings() if one.mark in "·!"]


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert odd() == []
    assert odd(Pair("3.5 %", "3,5 %"), Pair("“Où?” — l'été…", "¿Dónde? naïve café")) == []


@pytest.mark.parametrize(
    ("pair", "what"),
    [
        (CLEAN[3], "duplicate pairs"),
        (Pair(CLEAN[3].source, "autre"), "sources with conflicting targets"),
        (Pair("Hello World", "hello world "), "targets that are their source"),
        (Pair("short", "long " * 14), "lengths that differ by more than three to one"),
        (Pair("x " * 120, "y " * 120), "sides of more than 100 words"),
        (Pair("cafÃ© here", "b"), "broken characters or HTML entities"),
        (Pair("a", "l’Ã©tÃ©"), "broken characters or HTML entities"),
        (Pair("it�s", "b"), "broken characters or HTML entities"),
        (Pair("it â€™s", "b"), "broken characters or HTML entities"),
        (Pair("a", "Ð¿Ñ€Ð¸Ð²ÐµÑ‚"), "broken characters or HTML entities"),
        (Pair("a", "à¤¬"), "broken characters or HTML entities"),
        (Pair("Tom &amp; Jerry", "b"), "broken characters or HTML entities"),
        (Pair("caf\\u00e9", "b"), "broken characters or HTML entities"),
        (Pair("нет, спасибо", "non merci"), "sources in another script than the others"),
        (Pair("hello there", "Σας ευχαριστώ"), "targets in another script than the others"),
        (Pair("Τhe end", "la fin"), "words that mix Latin with Cyrillic or Greek letters"),
        (Pair("zero\u200bwidth", "b"), "invisible characters, such as zero-width spaces"),
    ],
)
def test_problems_are_found_with_their_line_and_a_remedy(pair: Pair, what: str) -> None:
    (found,) = odd(pair)
    assert found.text == f"{what}: 1 (1.6%)"
    assert found.examples[0].startswith("line 61: ")
    assert found.remedy


def test_rare_problems_are_only_notes() -> None:
    many = [Pair(f"{i} a", f"A {i}") for i in range(2000)]
    (found,) = [one for one in survey([*many, Pair("same", "same")]).findings() if one.mark in "·!"]
    assert (found.mark, found.text) == ("·", "targets that are their source: 1")


def test_at_most_three_examples_are_shown() -> None:
    (found,) = odd(*(Pair(f"{i}", f"{i}") for i in range(9)))
    assert found.text == "targets that are their source: 9 (13.0%)"
    assert len(found.examples) == 3


def test_the_problem_is_quoted_for_long_sentences() -> None:
    (found,) = odd(Pair("many words " * 6 + "Tom &amp; Jerry", "beaucoup de mots " * 5))
    assert found.examples[0].endswith("('&amp;')")


def sentences(count: int) -> list[Pair]:
    lengths = np.random.RandomState(0).randint(1, 30, count)
    return [Pair(f"{i} " + "a " * n, f"{i} " + "b " * n) for i, n in enumerate(lengths)]


@pytest.mark.parametrize(("by", "message"), [(1, "1 line below"), (-2, "2 lines above")])
def test_a_shifted_corpus_is_detected_by_its_lengths(by: int, message: str) -> None:
    pairs = sentences(300)
    targets = np.roll([pair.target for pair in pairs], by).tolist()
    shifted = [Pair(pair.source, target) for pair, target in zip(pairs, targets, strict=True)]
    (found,) = [one for one in survey(shifted).findings() if "hardly correlate" in one.text]
    assert message in found.text
    assert "shifted against each other" in found.remedy


def test_a_missing_line_in_the_middle_is_detected() -> None:
    pairs = sentences(2000)
    targets = [pair.target for number, pair in enumerate(pairs) if number != 1300] + ["end"]
    half = [Pair(pair.source, target) for pair, target in zip(pairs, targets, strict=True)]
    (found,) = [one for one in survey(half).findings() if "do not correlate" in one.text]
    assert found.mark == "!"
    assert "shifted against each other" in found.remedy
    assert "from about pair 1,401 to 2,000" in found.text
    assert "with the target 1 line above" in found.text


def test_dictionaries_are_measured_in_letters() -> None:
    words = ["".join("abcdefgh"[(i * k) % 8] for k in range(1 + i % 17)) for i in range(300)]
    entries = [Pair(f"{word}{number}", " ".join(f"{word}{number}")) for number, word in enumerate(words)]
    found = survey(entries).findings()
    assert [one.text for one in found if one.mark != "✓"] == []
    assert any("long sources have long targets" in one.text for one in found)
    (odd,) = [one for one in survey([*entries, Pair("a", "x " * 30)]).findings() if one.mark != "✓"]
    assert odd.text.startswith("lengths that differ by more than three to one: 1")
    assert [one.mark for one in check_overlap(survey(entries), [Pair("other", "o")], "test")] == ["✓"]


def test_shuffled_targets_are_detected() -> None:
    pairs = sentences(300)
    targets = np.random.RandomState(1).permutation([pair.target for pair in pairs]).tolist()
    mixed = [Pair(pair.source, target) for pair, target in zip(pairs, targets, strict=True)]
    (found,) = [one for one in survey(mixed).findings() if "hardly correlate" in one.text]
    assert "do the lines translate each other?" in found.remedy
    assert any("long sources have long targets" in one.text for one in survey(pairs).findings())


def test_sizes_and_vocabulary() -> None:
    report = [one.text for one in survey([Pair("a b a", "c"), Pair("a, d", "c c")]).sizes()]
    assert report[0] == "2 pairs"
    assert report[1].startswith("source: Latin script; 3.0 words on average, median 3, ")
    assert report[1].endswith("4 different words, 3 of them only once")
    many = [Pair(f"x{i} a", "b") for i in range(40_000)]
    (short,) = [one for one in survey(many).sizes() if one.mark == "·"]
    assert short.text == "source: the 30,000 most frequent words cover 87.5% of the text; 12.5% would be unknown"


def test_leakage_is_found_through_case_and_punctuation() -> None:
    train = survey([Pair("The cat sat.", "x"), Pair("a dog", "y")])
    leaked, unknown = check_overlap(train, [Pair("the cat sat", "x"), Pair("a bird", "z")], "test")
    assert leaked.text == "test: 1 of 2 sources are in training too, but for case and punctuation"
    assert leaked.examples == ("'the cat sat' → 'x'",)
    assert unknown.text == "test: 40.0% of its source words never occur in training"
    fine, _ = check_overlap(train, [Pair("a bird", "z")], "dev")
    assert (fine.mark, fine.text) == ("✓", "dev: 1 pair, its source not in training")
