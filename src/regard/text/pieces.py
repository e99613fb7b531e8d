"""The one place that maps pieces to characters and words, for texts that are encoded and for ids that are decoded."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from regard.text.encoding import DecodedText
from regard.text.normalise import MARK, Normaliser
from regard.text.special import EOS, UNK, UNKNOWN
from regard.text.subwords import Subwords
from regard.text.vocabulary import marked_words
from regard.text.words import Unit, join_words, word_spans

Spans = Sequence[tuple[int, int]]


class Piece(NamedTuple):
    """A piece of a text: its id, its characters and its word; `opens` if ▁ precedes it."""

    id: int
    start: int
    end: int
    word: int | None
    opens: bool = False

    def written(self, text: str) -> str:
        return (MARK if self.opens else "") + text[self.start : self.end]


def word_pieces(text: str, words: Spans, vocabulary: Mapping[str, int]) -> Iterator[Piece]:
    """One piece for each word."""
    for word, (start, end) in enumerate(words):
        yield Piece(vocabulary.get(text[start:end], UNK), start, end, word)


def character_pieces(text: str, words: Spans, vocabulary: Mapping[str, int]) -> Iterator[Piece]:
    """One piece for each character; spaces are pieces of no word."""
    inside: list[int | None] = [None] * len(text)
    for word, (start, end) in enumerate(words):
        inside[start:end] = [word] * (end - start)
    for start, (character, number) in enumerate(zip(text, inside, strict=True)):
        yield Piece(vocabulary.get(character, UNK), start, start + 1, number)


def subword_pieces(text: str, words: Spans, subwords: Subwords) -> Iterator[Piece]:
    """Pieces that never cross a word boundary; ▁ before a word covers no characters of the text."""
    for word, ((start, _), marked) in enumerate(zip(words, marked_words(text, words), strict=True)):
        opens = marked.startswith(MARK)
        place = start - opens
        for number, length in subwords(marked):
            yield Piece(number, max(place, start), place + length, word, opens and place < start)
            place += length


def given_words(text: str, normal: Sequence[str], normalise: Normaliser) -> list[int]:
    """For each word of the normalised text, the word of the raw text it comes from; both are split at white space.

    Normalisation may drop a word (a lone soft hyphen) or split one (at a zero-width space), and files of links count
    the words of the raw text.

    >>> given_words("a \u00ad b\u200bc", ["a", "b", "c"], Normaliser())
    [0, 2, 2]
    """
    words = text.split()
    if len(words) == len(normal):
        return list(range(len(normal)))
    plain = normalise.model_copy(update={"drop_final_stop": False})
    origin = [number for number, word in enumerate(words) for _ in plain(word).split()]
    return origin[: len(normal)] if len(origin) >= len(normal) else list(range(len(normal)))


def decode_words(ids: Sequence[int], pieces: Sequence[str], splitting: Unit) -> DecodedText:
    """Each piece that is not special is a word."""
    texts = [piece for number, piece in zip(ids, pieces, strict=True) if not _is_silent(number)]
    count = iter(range(len(texts)))
    words = tuple(None if _is_silent(number) else next(count) for number in ids)
    text = join_words(texts, "spaces" if splitting == "spaces" else "marks")
    return DecodedText(text, tuple(pieces), words, tuple(texts))


def decode_written(ids: Sequence[int], pieces: Sequence[str], splitting: Unit) -> DecodedText:
    """Concatenates pieces, with ▁ as a space; the words are those of the resulting text.

    A piece belongs to the word of its first character; a lone ▁ to the word that it opens. One unknown word
    usually makes several unknown pieces: if consecutive ones got the same replacement, it is written once.
    """
    written: list[str] = []
    last = None
    for number, piece in zip(ids, pieces, strict=True):
        repeated = number == UNK and last == (UNK, piece) and piece != UNKNOWN
        written.append("" if _is_silent(number) or repeated else piece.replace(MARK, " "))
        last = number, piece
    raw = "".join(written)
    spans = word_spans(raw, splitting)
    words: list[int | None] = []
    end, word = 0, 0
    for number, piece, text in zip(ids, pieces, written, strict=True):
        start = end + len(text) - len(text.lstrip())
        end += len(text)
        if not text and not _is_silent(number):
            words.append(words[-1])
            continue
        while word < len(spans) and spans[word][1] <= start:
            word += 1
        inside = word < len(spans) and spans[word][0] <= start and bool(text.strip() or piece == MARK)
        words.append(word if inside else None)
    return DecodedText(" ".join(raw.split()), tuple(pieces), tuple(words), tuple(raw[a:b] for a, b in spans))


def _is_silent(number: int) -> bool:
    """PAD, BOS and EOS have no text."""
    return number <= EOS and number != UNK
