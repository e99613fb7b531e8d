"""A sentence in one language: its words, and the English words that each of them links to."""

from regard.alignment.links import Link, Links
from regard.data.phrasebook.tree import Key


class EnglishLine:
    """English words; `places` has the position of the word of each (node, role)."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.places: dict[Key, int] = {}

    def add(self, word: str, *keys: Key) -> None:
        for key in keys:
            self.places[key] = len(self.words)
        self.words.append(word)


class ForeignLine:
    """French or Hindi words; each names the English word it translates (sure) and those it depends on (possible)."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.keys: list[tuple[Key | None, tuple[Key, ...]]] = []

    def add(self, word: str, sure: Key | None, *possible: Key) -> None:
        self.words.append(word)
        self.keys.append((sure, possible))

    def links(self, places: dict[Key, int]) -> Links:
        """(English word, foreign word); a key that the English sentence has no word for gives no link."""
        sure: list[Link] = []
        possible: list[Link] = []
        for position, (key, others) in enumerate(self.keys):
            if key in places:
                sure.append((places[key], position))
            possible.extend((places[other], position) for other in others if other in places)
        return Links.of(sure, possible)


def join(words: list[str]) -> str:
    """The words as text: no space after an elided word or before a comma."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",")
