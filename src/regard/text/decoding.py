"""Pieces -> text and the word of each piece, for whatever sequence of pieces a model produced."""

from collections.abc import Sequence

from regard.text.encoding import Decoded
from regard.text.normalise import MARK
from regard.text.special import EOS, UNK, UNKNOWN
from regard.text.words import Splitting, join_words, word_spans


def decode_words(ids: Sequence[int], pieces: Sequence[str], splitting: Splitting) -> Decoded:
    """Each piece that is not special is a word, whatever it consists of."""
    words: list[int | None] = []
    texts: list[str] = []
    for number, piece in zip(ids, pieces, strict=True):
        if _is_silent(number):
            words.append(None)
        else:
            words.append(len(texts))
            texts.append(piece)
    return Decoded(join_words(texts, splitting), tuple(pieces), tuple(words), tuple(texts))


def decode_written(ids: Sequence[int], pieces: Sequence[str], splitting: Splitting) -> Decoded:
    """Pieces written one after the other, ▁ as a space; words are those of the text that comes out.

    A piece belongs to the word of its first character; a lone ▁ to the word that it opens. One unknown word
    usually makes several unknown pieces: the same replacement twice in a row is written once.
    """
    written: list[str] = []
    for place, (number, piece) in enumerate(zip(ids, pieces, strict=True)):
        repeated = number == UNK and place > 0 and ids[place - 1] == UNK and pieces[place - 1] == piece != UNKNOWN
        written.append("" if _is_silent(number) or repeated else piece.replace(MARK, " "))
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
    return Decoded(" ".join(raw.split()), tuple(pieces), tuple(words), tuple(raw[a:b] for a, b in spans))


def written_pieces(ids: Sequence[int], names: Sequence[str], unknowns: Sequence[str | None] | None) -> list[str]:
    """The piece of each id, with `unknowns[i]` in the place of an unknown piece i where it is given."""
    pieces = [names[number] if number != UNK else UNKNOWN for number in ids]
    if unknowns is not None:
        if len(unknowns) != len(ids):
            raise ValueError(f"{len(unknowns)} replacements for {len(ids)} pieces: give one (or None) for each piece")
        for place, (number, replacement) in enumerate(zip(ids, unknowns, strict=True)):
            if number == UNK and replacement:
                pieces[place] = replacement
    return pieces


def _is_silent(number: int) -> bool:
    """PAD, BOS and EOS write nothing."""
    return number <= EOS and number != UNK
