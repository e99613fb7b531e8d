"""Pairs -> ids, once, in flat arrays: 600,000 pairs of 25 pieces a side take 135 MB, not gigabytes of lists."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int32, Int64

from regard.data.crew import Crew
from regard.data.pair import Pair
from regard.text.errors import InputError
from regard.text.labour import Encoded
from regard.text.tokenizer import Tokenizer

Overlong = Literal["drop", "truncate"]
CHUNK = 4096
"""Pairs that are encoded in one go. Another number is another BPE dropout."""


@dataclass(frozen=True)
class Limits:
    """Pieces a side may have, without BOS and EOS, and what happens to pairs that have more."""

    source: int | None = None
    target: int | None = None
    overlong: Overlong = "drop"


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Sequences:
    """Sequence i is ids[offsets[i] : offsets[i + 1]]; the arrays may be memory-mapped."""

    ids: Int32[np.ndarray, "ids"]
    offsets: Int64[np.ndarray, "bounds"]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Int32[np.ndarray, "length"]:
        if not 0 <= index < len(self):
            raise IndexError(f"sequence {index} of {len(self)}")
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> Int64[np.ndarray, "sequences"]:
        return np.diff(self.offsets)


@dataclass(frozen=True)
class EncodedPair:
    """Ids of a source and its target, without BOS and EOS."""

    source: Int32[np.ndarray, "source"]
    target: Int32[np.ndarray, "target"]


@dataclass(frozen=True)
class EncodedPairs:
    """What batches are cut from. Item i comes from pair `numbers[i]` of the corpus."""

    source: Sequences
    target: Sequences
    numbers: Int64[np.ndarray, "items"]
    blank: int = 0
    """Pairs left out because a side has no pieces."""
    dropped: int = 0
    """Pairs left out because a side is too long."""
    truncated: int = 0
    """Pairs kept with a side cut to the limit."""

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, index: int) -> EncodedPair:
        return EncodedPair(self.source[index], self.target[index])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should hear about pairs that were changed or left out."""
        said = (
            (self.blank, "left out: a side is blank"),
            (self.dropped, "left out: longer than the limit"),
            (self.truncated, "cut to the limit"),
        )
        return tuple(f"{_count_pairs(count)} {what}" for count, what in said if count)


def _count_pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


@dataclass(frozen=True)
class EncodedChunk:
    """Some pairs on the way into `EncodedPairs`: what is left of them, and how many were left out and why."""

    ids: tuple[Int32[np.ndarray, "source_ids"], Int32[np.ndarray, "target_ids"]]
    lengths: tuple[Int64[np.ndarray, "kept"], Int64[np.ndarray, "kept"]]
    numbers: Int64[np.ndarray, "kept"]
    blank: int
    dropped: int
    truncated: int


def encode_pairs(
    pairs: Iterable[Pair],
    source: Tokenizer,
    target: Tokenizer,
    limits: Limits = NO_LIMITS,
    seed: str | None = None,
) -> EncodedPairs:
    """Encode a stream of pairs in this process, into memory. A seed switches BPE dropout on."""
    with Crew(0) as crew:
        chunks = list(encode_chunks(pairs, source, target, limits, seed, crew))
    return join_chunks(chunks)


def encode_chunks(
    pairs: Iterable[Pair], source: Tokenizer, target: Tokenizer, limits: Limits, seed: str | None, crew: Crew
) -> Iterator[EncodedChunk]:
    """The same a few thousand pairs at a time, by however many processes."""
    known = (source, target) if crew.processes == 0 else (source.data, target.data)
    crew.each("know", *known)
    requests = (
        (([pair.source for pair in chunk], [pair.target for pair in chunk]), seed and f"{seed} {number}")
        for number, chunk in enumerate(cut(pairs))
    )
    done = 0
    for encoded in crew.map("encode", requests):
        yield _choose(encoded, limits, done)
        done += len(encoded[0][1]) // 4


def cut(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Pairs in lists of `CHUNK`."""
    stream = iter(pairs)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def join_chunks(chunks: list[EncodedChunk]) -> EncodedPairs:
    """All pairs that were kept, in memory."""
    blank, dropped, truncated = (
        sum(getattr(one, name) for one in chunks) for name in ("blank", "dropped", "truncated")
    )
    refuse_nothing(sum(len(one.numbers) for one in chunks), blank, dropped)
    source, target = (
        Sequences(
            np.concatenate([one.ids[side] for one in chunks]),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([one.lengths[side] for one in chunks]))]),
        )
        for side in (0, 1)
    )
    return EncodedPairs(source, target, np.concatenate([one.numbers for one in chunks]), blank, dropped, truncated)


def refuse_nothing(kept: int, blank: int, dropped: int) -> None:
    if not kept:
        raise InputError(
            f"no pair is left to use: {blank} with a blank side, {dropped} longer than the limit"
            + ("; raise the limit" if dropped else "; is the corpus empty?")
        )


def _choose(encoded: list[Encoded], limits: Limits, first: int) -> EncodedChunk:
    """Leave out what is blank or too long, or cut it; `first` is the number of the first of these pairs."""
    ids = [np.frombuffer(data, np.int32) for data, _ in encoded]
    lengths = [np.frombuffer(data, np.int32).astype(np.int64) for _, data in encoded]
    longest = [np.iinfo(np.int64).max if one is None else one for one in (limits.source, limits.target)]
    blank = (lengths[0] == 0) | (lengths[1] == 0)
    over = ~blank & ((lengths[0] > longest[0]) | (lengths[1] > longest[1]))
    kept = ~blank if limits.overlong == "truncate" else ~blank & ~over
    chosen = [_cut_sequences(*side, kept) for side in zip(ids, lengths, longest, strict=True)]
    count = int(over.sum())
    return EncodedChunk(
        (chosen[0][0], chosen[1][0]),
        (chosen[0][1], chosen[1][1]),
        first + np.flatnonzero(kept),
        blank=int(blank.sum()),
        dropped=count if limits.overlong == "drop" else 0,
        truncated=count if limits.overlong == "truncate" else 0,
    )


def _cut_sequences(
    ids: Int32[np.ndarray, "ids"], lengths: Int64[np.ndarray, "pairs"], longest: int, kept: Bool[np.ndarray, "pairs"]
) -> tuple[Int32[np.ndarray, "left"], Int64[np.ndarray, "kept"]]:
    """The ids of the kept sequences, no more than `longest` of each, and their lengths."""
    starts = np.cumsum(lengths) - lengths
    inside = np.arange(len(ids)) - np.repeat(starts, lengths)
    return ids[np.repeat(kept, lengths) & (inside < longest)], np.minimum(lengths[kept], longest)
