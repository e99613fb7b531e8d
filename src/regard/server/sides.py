"""Texts as the API shows them: pieces and words with their character spans, language and direction."""

from collections.abc import Sequence
from typing import get_args

from regard.plot.document import direction
from regard.runtime.translation import Translation
from regard.server.schema.translating import Candidate, Piece, Side, Span, Special, Word
from regard.text.encoding import Encoding
from regard.text.special import SPECIAL, UNK

SPACE = "▁"
"""Marks a space before a piece of the kinds bpe and unigram."""
_NAMES: dict[int, Special] = dict(zip(range(len(SPECIAL)), ("PAD", "UNK", "BOS", "EOS"), strict=True))
assert set(_NAMES.values()) == set(get_args(Special))


def special(number: int) -> Special | None:
    """The name of one of the four special ids."""
    return _NAMES.get(number)


def source_side(encoding: Encoding, language: str | None) -> Side:
    """A source as the model reads it."""
    pieces = [
        _piece(text, number, span, word)
        for text, number, span, word in zip(
            encoding.pieces, encoding.ids, encoding.spans, encoding.words, strict=True
        )
    ]  # fmt: skip
    return _side(encoding.text, language, pieces, encoding.word_texts)


def target_side(translation: Translation, tokens: Sequence[int], language: str | None) -> Side:
    """A translation as the model wrote it; spans are found piece by piece in its text."""
    text, place = translation.text, 0
    pieces = []
    for written, number, word in zip(translation.target_pieces, tokens, translation.target_word_of, strict=True):
        plain = written.replace(SPACE, "")
        start = text.find(plain, place) if plain else -1
        span = None if start < 0 else (start, start + len(plain))
        place = place if span is None else span[1]
        pieces.append(_piece(written, number, span, word))
    return _side(text, language, pieces, translation.target_words)


def words_side(labels: Sequence[str], language: str | None = None) -> Side:
    """A side whose pieces are words, from labels alone."""
    spans: list[Span] = []
    text = ""
    for label in labels:
        start = len(text) + bool(text)
        text = f"{text} {label}" if text else label
        spans.append((start, start + len(label)))
    pieces = [
        Piece(text=label, id=UNK, span=span, word=number)
        for number, (label, span) in enumerate(zip(labels, spans, strict=True))
    ]
    words = [Word(text=label, span=span) for label, span in zip(labels, spans, strict=True)]
    return Side(text=text, language=language, direction=direction(text), pieces=pieces, words=words)


def candidate(number: int, probability: float, names: Sequence[str]) -> Candidate:
    """A piece that could have been written; `names` are the pieces of the target vocabulary."""
    name = special(number)
    text = "" if name else names[number].replace(SPACE, "")
    return Candidate(id=number, text=text, special=name, probability=probability)


def special_piece(number: int) -> Piece:
    """BOS, EOS, padding."""
    return Piece(text="", id=number, span=None, word=None, special=special(number))


def _piece(text: str, number: int, span: Span | None, word: int | None) -> Piece:
    name = special(number)
    if name is not None and name != "UNK":
        return special_piece(number)
    return Piece(text=text.replace(SPACE, ""), id=number, span=span, word=word, special=name)


def _side(text: str, language: str | None, pieces: list[Piece], word_texts: Sequence[str]) -> Side:
    words, end = [], 0
    for word in word_texts:
        start = max(text.find(word, end), end)
        end = start + len(word)
        words.append(Word(text=word, span=(start, end)))
    return Side(text=text, language=language, direction=direction(text), pieces=pieces, words=words)
