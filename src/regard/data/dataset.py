"""Pairs -> ids, once, in flat arrays: 600,000 pairs of 25 pieces a side take 135 MB, not gigabytes of lists."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal

import numpy as np
from jaxtyping import Int32, Int64

from regard.data.pair import Pair
from regard.text.errors import InputError
from regard.text.tokenizer import Tokenizer

Overlong = Literal["drop", "truncate"]


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


def encode_pairs(
    pairs: Iterable[Pair],
    source: Tokenizer,
    target: Tokenizer,
    longest_source: int | None = None,
    longest_target: int | None = None,
    overlong: Overlong = "drop",
    random: Random | None = None,
) -> EncodedPairs:
    """Encode a stream of pairs; limits count pieces without BOS and EOS. `random` switches BPE dropout on."""
    sides = (_Growing(source, longest_source), _Growing(target, longest_target))
    numbers = array("q")
    blank = dropped = truncated = 0
    for number, pair in enumerate(pairs):
        encoded = [
            side.tokenizer.encode_ids(text, random)
            for side, text in zip(sides, (pair.source, pair.target), strict=True)
        ]
        if not all(encoded):
            blank += 1
            continue
        if any(side.longest is not None and len(ids) > side.longest for side, ids in zip(sides, encoded, strict=True)):
            if overlong == "drop":
                dropped += 1
                continue
            truncated += 1
        for side, ids in zip(sides, encoded, strict=True):
            side.append(ids)
        numbers.append(number)
    if not numbers:
        raise InputError(
            f"no pair is left to use: {blank} with a blank side, {dropped} longer than the limit"
            + ("; raise the limit" if dropped else "; is the corpus empty?")
        )
    return EncodedPairs(
        sides[0].sequences(), sides[1].sequences(), np.frombuffer(numbers, np.int64), blank, dropped, truncated
    )


class _Growing:
    """One side while it is being read."""

    def __init__(self, tokenizer: Tokenizer, longest: int | None) -> None:
        self.tokenizer = tokenizer
        self.longest = longest
        self.ids = array("i")
        self.offsets = array("q", [0])

    def append(self, ids: list[int]) -> None:
        self.ids.extend(ids[: self.longest])
        self.offsets.append(len(self.ids))

    def sequences(self) -> Sequences:
        return Sequences(np.frombuffer(self.ids, np.int32), np.frombuffer(self.offsets, np.int64))
