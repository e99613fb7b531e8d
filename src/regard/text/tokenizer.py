"""Text <-> ids: word, character, BPE and unigram pieces behind one class."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import tokenizers

from regard.bounds import MOST
from regard.files import write_whole
from regard.reading_files import read_regular
from regard.text.encoding import DecodedText, Encoding, PieceWords
from regard.text.file import from_bytes, to_bytes
from regard.text.input_error import InputError
from regard.text.pieces import (
    Piece,
    Spans,
    character_pieces,
    decode_words,
    decode_written,
    given_words,
    subword_pieces,
    word_pieces,
)
from regard.text.special import EOS, SPECIAL, UNK, UNKNOWN
from regard.text.subwords import LONG, WAYS, Subwords
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.vocabulary import count_chunks, marked_words, vocabulary_from
from regard.text.words import join_words, word_spans

_REMEMBERED = 300_000

Ways = tuple[str, list[list[int] | None]]
"""A marked word and the ids of its segmentations under BPE dropout; None until first used."""


class Tokenizer:
    """Pieces with ids; ids 0 to 3 are PAD, UNK, BOS, EOS in every vocabulary.

    decode(encode(text).ids) is the normalised text; the kind word writes spaces as `join_words` does.

    >>> tokenizer = Tokenizer.train(["the black cat", "the mat"], TokenizerConfig(kind="word"))
    >>> tokenizer.encode("the red cat", eos=True).ids
    (4, 1, 6, 3)
    >>> tokenizer.decode_pieces([4, 1, 6, 3], unknowns=["the", "red", "cat", None]).text
    'the red cat'
    """

    def __init__(self, config: TokenizerConfig, library: tokenizers.Tokenizer, data: bytes | None = None) -> None:
        """`data` is the file that it was read from."""
        self.config = config
        self.data = to_bytes(config, library) if data is None else data
        """The bytes that `save` writes."""
        vocabulary: dict[str, int] = library.get_vocab(with_added_tokens=False)
        self.pieces = tuple(sorted(vocabulary, key=vocabulary.__getitem__))
        """Every piece, by id."""
        if self.pieces[: len(SPECIAL)] != SPECIAL or vocabulary[self.pieces[-1]] + 1 != len(vocabulary):
            raise InputError(f"a vocabulary must begin with {' '.join(SPECIAL)} and number its pieces without gaps")
        self._listed = {piece: number for piece, number in vocabulary.items() if number > EOS}
        self._seen: dict[str, tuple[list[int], list[int], int]] = {}
        self._ways: dict[str, Ways] = {}
        self._words: dict[str, list[Ways]] = {}
        self._subwords: Subwords | None = None
        if config.kind in ("bpe", "unigram"):
            merges = json.loads(library.to_str())["model"].get("merges", [])
            ranks = {(left, right): rank for rank, (left, right) in enumerate(merges)}
            self._subwords = Subwords(library.model, vocabulary, ranks)

    @classmethod
    def train(cls, texts: Iterable[str], config: TokenizerConfig) -> "Tokenizer":
        """A vocabulary built from raw texts; the same texts give the same one."""
        return cls.from_counts(count_chunks(texts, config), config)

    @classmethod
    def from_counts(cls, seen: Counter[str], config: TokenizerConfig) -> "Tokenizer":
        """A tokenizer from the counts of `count_chunks`, so that several processes can share the counting."""
        return cls(config, vocabulary_from(seen, config))

    @classmethod
    def from_data(cls, data: bytes, origin: Path = Path("the tokenizer")) -> "Tokenizer":
        """A tokenizer from the bytes that `save` writes."""
        config, library = from_bytes(data, origin)
        try:
            return cls(config, library, data)
        except InputError as problem:
            raise InputError(f"{origin}: {problem}") from None

    def without_completion(self) -> "Tokenizer":
        """The same vocabulary for targets: a forced prefix is no whole sentence."""
        if not self.config.normalise.complete:
            return self
        content = json.loads(self.data)
        content["config"]["normalise"]["complete"] = False
        return Tokenizer.from_data(json.dumps(content).encode())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tokenizer.from_data, (self.data,)

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str, eos: bool = False) -> Encoding:
        """The pieces of a text, each with its characters and its word."""
        text = self.config.normalise(text)
        words = word_spans(text, self.config.unit)
        pieces = list(self._pieces_of(text, words))
        if eos:
            pieces.append(Piece(EOS, len(text), len(text), None))
        return Encoding(
            text=text,
            ids=tuple(piece.id for piece in pieces),
            pieces=tuple(SPECIAL[EOS] if piece.id == EOS else piece.written(text) for piece in pieces),
            spans=tuple((piece.start, piece.end) for piece in pieces),
            words=tuple(piece.word for piece in pieces),
            word_texts=tuple(text[start:end] for start, end in words),
        )

    def _pieces_of(self, text: str, words: Spans) -> Iterator[Piece]:
        if self.config.kind == "character":
            return character_pieces(text, words, self._listed)
        if self._subwords is None:
            return word_pieces(text, words, self._listed)
        return subword_pieces(text, words, self._subwords)

    def encode_ids(self, text: str, random: Random | None = None) -> list[int]:
        """Only the ids of `encode`, without EOS: several times faster, for whole corpora.

        With a random generator, BPE leaves out merges by `config.dropout`: each word gets one of `WAYS` segmentations.
        """
        if random is not None and self._subwords is not None and self.config.dropout:
            return self._with_dropout(text, self._subwords, random)
        text = self.config.normalise(text)
        if self.config.kind == "character":
            return [self._listed.get(character, UNK) for character in text]
        ids: list[int] = []
        seen = self._seen
        for chunk in text.split(" "):
            ids += (seen.get(chunk) or self._chunk(chunk))[0]
        return ids

    def _with_dropout(self, text: str, subwords: Subwords, random: Random) -> list[int]:
        """Texts and segmentations are cached, which makes later epochs ten times as fast."""
        words = self._words.get(text)
        if words is None:
            normal = self.config.normalise(text)
            marked = marked_words(normal, word_spans(normal, self.config.words))
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
                self._ways.clear()
            words = self._words[text] = [self._ways.setdefault(word, (word, [None] * WAYS)) for word in marked]
        ids: list[int] = []
        for word, ways in words:
            way = int(random.random() * WAYS)
            found = ways[way]
            if found is None:
                segments = subwords.with_dropout(word, self.config.dropout, Random(f"{way} {word}"))
                found = ways[way] = [number for number, _ in segments]
            ids += found
        return ids

    def encode_words(self, text: str, *, spaces: bool = False, characters: bool = True) -> PieceWords:
        """The ids without EOS and the word of each, split as this tokenizer does or at white space: as fast as ids.

        Words at white space are those of the given text, before normalisation. With the kind character, each
        character counts as a word unless `characters` is False (links between words).
        """
        spaces = spaces or self.config.words == "spaces"
        normal = self.config.normalise(text)
        chunks = normal.split()
        if self.config.kind == "character":
            spans = word_spans(normal, "spaces" if spaces else self.config.unit if characters else "marks")
            pieces = list(self._pieces_of(normal, spans))
            found = PieceWords([piece.id for piece in pieces], [piece.word for piece in pieces], len(spans))
        else:
            found = self._encode_chunks(chunks, spaces)
        if not spaces or not chunks or len(chunks) == len(text.split()):
            return found
        origin = given_words(text, chunks, self.config.normalise)
        words = [None if word is None else origin[word] for word in found.words]
        return PieceWords(found.ids, words, origin[-1] + 1)

    def _encode_chunks(self, chunks: list[str], spaces: bool) -> PieceWords:
        ids: list[int] = []
        words: list[int | None] = []
        seen, count = self._seen, 0
        for chunk in chunks:
            numbers, inside, found = seen.get(chunk) or self._chunk(chunk)
            ids += numbers
            words += [count] * len(numbers) if spaces else [count + word for word in inside]
            count += 1 if spaces else found
        return PieceWords(ids, words, count)

    def _chunk(self, chunk: str) -> tuple[list[int], list[int], int]:
        """The ids of a chunk between two spaces, the word of each, and the number of words.

        Cached: words never cross a space, and most chunks are frequent.
        """
        words = word_spans(chunk, self.config.words)
        pieces = list(self._pieces_of(chunk, words))
        found = [piece.id for piece in pieces], [piece.word or 0 for piece in pieces], len(words)
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        if len(chunk) < LONG:
            self._seen[chunk] = found
        return found

    def written(self, text: str) -> str:
        """The text as decoding would write it, unknown words aside: the reference to compare outputs with.

        Normalisation may lower its case, and the kind word sets its own spaces (`l'afrique !` is `l'afrique!`).
        """
        text = self.config.normalise(text)
        if self.config.kind != "word":
            return text
        words = [text[start:end] for start, end in word_spans(text, self.config.words)]
        return join_words(words, self.config.words)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids; special ids have no text, an unknown piece is ⁇."""
        return self.decode_pieces(ids).text

    def decode_pieces(self, ids: Sequence[int], unknowns: Sequence[str | None] | None = None) -> DecodedText:
        """The text of some ids with the word of each, `unknowns[i]` written where id i is UNK."""
        for number in ids:
            if not 0 <= number < len(self):
                raise ValueError(
                    f"id {number} is not in this vocabulary of {len(self)} pieces: another tokenizer's ids?"
                )
        if unknowns is None:
            unknowns = [None] * len(ids)
        if len(unknowns) != len(ids):
            raise ValueError(f"{len(unknowns)} replacements for {len(ids)} pieces: give one (or None) for each piece")
        pieces = [
            (replacement or UNKNOWN) if number == UNK else self.pieces[number]
            for number, replacement in zip(ids, unknowns, strict=True)
        ]
        decode = decode_words if self.config.kind == "word" else decode_written
        return decode(ids, pieces, self.config.unit)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the bytes that `save` writes."""
        return hashlib.sha256(self.data).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """One JSON file, written whole or not at all."""
        write_whole(path, self.data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Tokenizer":
        """Read a file that `save` wrote."""
        origin = Path(path)
        try:
            data = read_regular(origin, MOST["tokenizer"])
        except OSError as problem:
            raise InputError(f"cannot read the tokenizer file {origin}: {problem.strerror}") from None
        except ValueError as problem:
            raise InputError(f"{origin} is not a tokenizer file: {problem}") from None
        return cls.from_data(data, origin)


def first_difference(one: Tokenizer, other: Tokenizer, here: str, there: str) -> str | None:
    """The first difference of two vocabularies as a phrase, with the names of the two places; None if there is none.

    Example: "piece 4 is 'the' in the source and 'le' in the target".
    """
    if len(one) != len(other):
        return f"there are {len(one):,} pieces {here} and {len(other):,} {there}"
    for number, (mine, theirs) in enumerate(zip(one.pieces, other.pieces, strict=True)):
        if mine != theirs:
            return f"piece {number} is {mine!r} {here} and {theirs!r} {there}"
    return None
