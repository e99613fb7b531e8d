"""The results of a tokenizer: pieces with their ids, their characters and their words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text as pieces. The lists `ids`, `pieces`, `spans` and `words` are equally long.

    `text` is the normalised text; `spans` count its characters, and so do the words of `word_texts`. A piece shows the
    characters it covers even where its id is UNK, so that an unknown word can be copied; a piece of the kinds bpe and
    unigram begins with ▁ if a space (or nothing) precedes it, and that mark is not part of its span. `words` has None
    for pieces outside words: spaces of the kind character, and EOS, whose span is empty and last.
    """

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    words: tuple[int | None, ...]
    word_texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PieceWords:
    """Ids, the word of each (None: outside words), and the number of words: the input of links between words."""

    ids: list[int]
    words: list[int | None]
    count: int


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Ids as text. `pieces` and `words` have one entry for each id; EOS and the other special ids have no word."""

    text: str
    pieces: tuple[str, ...]
    words: tuple[int | None, ...]
    word_texts: tuple[str, ...]
