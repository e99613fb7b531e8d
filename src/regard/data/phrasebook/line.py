"""A sentence as one language says it: words, and the English words that each of them answers to."""

from regard.alignment.links import Link, Links
from regard.data.phrasebook.tree import Key


class EnglishLine:
    """English words; `places` tells where the word of a (node, role) stands."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.places: dict[Key, int] = {}

    def say(self, word: str, *keys: Key) -> None:
        for key in keys:
            self.places[key] = len(self.words)
        self.words.append(word)


class ForeignLine:
    """French or Hindi words; each cites the English word it stands for (sure) and those it leans on (possible)."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.sure: list[Key | None] = []
        self.possible: list[tuple[Key, ...]] = []

    def say(self, word: str, sure: Key | None, *possible: Key) -> None:
        self.words.append(word)
        self.sure.append(sure)
        self.possible.append(possible)

    def links(self, places: dict[Key, int]) -> Links:
        """(English word, foreign word); a cited word that the English sentence leaves out gives no link."""
        sure: list[Link] = []
        possible: list[Link] = []
        for position, key in enumerate(self.sure):
            if key is not None and key in places:
                sure.append((places[key], position))
            possible.extend((places[other], position) for other in self.possible[position] if other in places)
        return Links.of(sure, possible)


def written(words: list[str]) -> str:
    """The words as text: nothing after an elided word, nothing before a comma."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",")
