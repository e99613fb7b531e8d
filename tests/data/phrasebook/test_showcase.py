"""The sentences we show, word for word and link for link."""

import pytest

from regard.data import phrasebook

from .trees import gold


def shown(pair: str) -> dict[str, tuple[str, str]]:
    return {item.source: (item.target, gold(item)) for item in phrasebook.showcase(pair)}


@pytest.mark.parametrize("pair", phrasebook.PAIRS)
def test_showcase_has_five_to_eight_distinct_sentences(pair: str) -> None:
    assert 5 <= len(shown(pair)) == len(phrasebook.showcase(pair)) <= 8


def test_english_to_french() -> None:
    sentences = shown("en-fr")
    assert sentences["the black cat sat on the mat"] == (
        "le chat noir était assis sur le tapis",
        "0-0 2-1 1-2 3?3 3-4 4-5 5-6 6-7",
    )
    assert sentences["i love you"] == ("je t'aime", "0-0 2-1 1-2")
    long, _ = sentences[
        "michael traveled to japan in april, explored the temples, tasted new dishes, met many friends and told stories"
    ]
    assert long == (
        "michael a voyagé au japon en avril, a exploré les temples, a goûté de nouveaux plats, "
        "a rencontré beaucoup d'amis et a raconté des histoires"
    )


def test_french_to_english() -> None:
    sentences = shown("fr-en")
    assert sentences["jane visite l'afrique en septembre"] == (
        "jane visits africa in september",
        "0-0 1-1 2?2 3-2 4-3 5-4",
    )
    assert sentences["je t'aime"] == ("i love you", "0-0 2-1 1-2")


def test_english_to_hindi() -> None:
    """लाइट answers to `lights`, बंद to `turn` and `off`, करो to `turn`."""
    sentences = shown("en-hi")
    assert sentences["turn off the lights"] == ("लाइट बंद करो", "2?0 3-0 0?1 1-1 0?2 1?2")
    assert sentences["the black cat sat on the mat"][0] == "काली बिल्ली चटाई पर बैठी थी"


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("jane visits africa in september", "Jane visits Africa in September."),
        ("she goes to the united states", "She goes to the United States."),
        ("jane visite l'afrique en septembre", "Jane visite l'Afrique en septembre."),
        ("elle ne veut pas aller aux états-unis demain", "Elle ne veut pas aller aux États-Unis demain."),
        ("लाइट बंद करो", "लाइट बंद करो।"),
    ],
)
def test_a_written_sentence_has_the_capitals_of_its_language(sentence: str, written: str) -> None:
    assert phrasebook.as_written(sentence) == written
