"""Normalised text -> which id stands for which characters and which word, for each kind of piece."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from regard.text.normalise import MARK
from regard.text.special import UNK
from regard.text.subwords import Subwords
from regard.text.vocabulary import marked_words

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Place:
    """A piece in a text; `opens` if ▁ stands in front of it."""

    id: int
    start: int
    end: int
    word: int | None
    opens: bool = False

    def written(self, text: str) -> str:
        return (MARK if self.opens else "") + text[self.start : self.end]


def word_places(text: str, words: Spans, vocabulary: Mapping[str, int]) -> Iterator[Place]:
    """A piece for each word."""
    for word, (start, end) in enumerate(words):
        yield Place(vocabulary.get(text[start:end], UNK), start, end, word)


def character_places(text: str, words: Spans, vocabulary: Mapping[str, int]) -> Iterator[Place]:
    """A piece for each character; spaces are pieces of no word."""
    inside: list[int | None] = [None] * len(text)
    for word, (start, end) in enumerate(words):
        inside[start:end] = [word] * (end - start)
    for start, (character, number) in enumerate(zip(text, inside, strict=True)):
        yield Place(vocabulary.get(character, UNK), start, start + 1, number)


def subword_places(text: str, words: Spans, subwords: Subwords) -> Iterator[Place]:
    """Pieces that never cross from one word into the next; ▁ before a word takes no characters of the text."""
    for word, ((start, _), marked) in enumerate(zip(words, marked_words(text, words), strict=True)):
        opens = marked.startswith(MARK)
        place = start - opens
        for number, length in subwords(marked):
            yield Place(number, max(place, start), place + length, word, opens=opens and place < start)
            place += length
