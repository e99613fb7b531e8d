"""A sentence in one language: its words, and the English words that each of them links to."""

from collections.abc import Sequence

from regard.alignment.links import Links
from regard.data.phrasebook.tree import Key, TimeAdverb


class Line:
    """Words, each with its keys: (node, role) of the tree.

    The first key of a French or Hindi word is the English word that it translates (a sure link), the others are those
    that it depends on (possible links). For an English word the order does not matter: all keys stand for it.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.keys: list[tuple[Key | None, tuple[Key, ...]]] = []

    def add(self, word: str, sure: Key | None, *possible: Key) -> None:
        self.words.append(word)
        self.keys.append((sure, possible))

    def add_time(self, words: Sequence[str], adverb: TimeAdverb) -> None:
        """`tomorrow`, or the two words of `every day`."""
        for word, role in zip(words, ("every", "time")[-len(words) :], strict=True):
            self.add(word, (adverb, role))


def links_between(english: Line, foreign: Line) -> Links:
    """(English word, foreign word); a key that the English sentence has no word for gives no link."""
    places = {key: place for place, (sure, others) in enumerate(english.keys) for key in (sure, *others)}
    rows = list(enumerate(foreign.keys))
    return Links.of(
        ((places[sure], position) for position, (sure, _) in rows if sure in places),
        ((places[key], position) for position, (_, possible) in rows for key in possible if key in places),
    )


def join(words: Sequence[str]) -> str:
    """The words as text: no space after an elided word or before a comma."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",")
