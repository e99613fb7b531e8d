"""Pairs as ids in flat arrays, in memory or memory-mapped: 600,000 pairs of 25 pieces a side take 135 MB."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int32, Int64

from regard.data.pair import Pair
from regard.data.worker_pool import WorkerPool
from regard.reading_files import read_json
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer
from regard.text.worker import Encoded, Texts, encode_texts

Overlong = Literal["drop", "truncate"]
CHUNK = 4096
"""Pairs that are encoded in one request. Another number gives another BPE dropout."""
_FILES = {"source.ids": "<i4", "source.offsets": "<i8", "target.ids": "<i4", "target.offsets": "<i8", "numbers": "<i8"}
"""The files of stored pairs: each array with its dtype."""
_COUNTS = "about.json"


@dataclass(frozen=True)
class PieceLimits:
    """Largest number of pieces on each side, without BOS and EOS, and what happens to longer pairs."""

    source: int | None = None
    target: int | None = None
    overlong: Overlong = "drop"


NO_LIMITS = PieceLimits()


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
class EncodedPairs:
    """Encoded pairs without BOS and EOS. Item i comes from pair `numbers[i]` of the corpus."""

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

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about pairs that were shortened or left out."""
        reasons = (
            (self.blank, "left out: a side is blank"),
            (self.dropped, "left out: longer than the limit"),
            (self.truncated, "cut to the limit"),
        )
        return tuple(f"{count:,} pair{'s' * (count > 1)} {reason}" for count, reason in reasons if count)


def encode_pairs(
    pairs: Iterable[Pair],
    source: Tokenizer,
    target: Tokenizer,
    limits: PieceLimits = NO_LIMITS,
    seed: str | None = None,
) -> EncodedPairs:
    """Encode pairs in this process, into memory. A seed enables BPE dropout."""
    with WorkerPool(partial(encode_texts, (source, target)), 0) as pool:
        return _join(list(encode_chunks(pairs, pool, limits, seed)))


def encode_chunks(
    pairs: Iterable[Pair], pool: WorkerPool[list[Encoded]], limits: PieceLimits, seed: str | None = None
) -> Iterator[EncodedPairs]:
    """A stream of encoded chunks of `CHUNK` pairs, from a pool that runs `encode_texts`."""
    done = 0
    requests = ((texts, seed and f"{seed} {number}") for number, texts in enumerate(cut(pairs)))
    for encoded in pool.map(requests):
        yield _apply_limits(encoded, limits, done)
        done += len(encoded[0][1]) // 4


def cut(pairs: Iterable[Pair]) -> Iterator[Texts]:
    """The source and target texts of `CHUNK` pairs at a time."""
    stream = iter(pairs)
    while chunk := list(islice(stream, CHUNK)):
        yield [pair.source for pair in chunk], [pair.target for pair in chunk]


def _refuse_empty(kept: int, blank: int, dropped: int) -> None:
    if not kept:
        raise InputError(
            f"no pair is left to use: {blank} with a blank side, {dropped} longer than the limit"
            + ("; raise the limit" if dropped else "; is the corpus empty?")
        )


def _join(chunks: list[EncodedPairs]) -> EncodedPairs:
    blank, dropped, truncated = (
        sum(getattr(chunk, name) for chunk in chunks) for name in ("blank", "dropped", "truncated")
    )
    _refuse_empty(sum(map(len, chunks)), blank, dropped)
    source, target = (
        _sequences(
            np.concatenate([sequences.ids for sequences in side]),
            np.concatenate([sequences.lengths for sequences in side]),
        )
        for side in zip(*((chunk.source, chunk.target) for chunk in chunks), strict=True)
    )
    return EncodedPairs(source, target, np.concatenate([chunk.numbers for chunk in chunks]), blank, dropped, truncated)


def _sequences(ids: Int32[np.ndarray, "ids"], lengths: Int64[np.ndarray, "sequences"]) -> Sequences:
    return Sequences(ids, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))


def _apply_limits(encoded: list[Encoded], limits: PieceLimits, first: int) -> EncodedPairs:
    """Drop blank pairs, and drop or truncate long ones; `first` is the number of the first of these pairs."""
    ids = [np.frombuffer(data, np.int32) for data, _ in encoded]
    lengths = [np.frombuffer(data, np.int32).astype(np.int64) for _, data in encoded]
    longest = [np.iinfo(np.int64).max if one is None else one for one in (limits.source, limits.target)]
    blank = (lengths[0] == 0) | (lengths[1] == 0)
    over = ~blank & ((lengths[0] > longest[0]) | (lengths[1] > longest[1]))
    truncate = limits.overlong == "truncate"
    kept = ~blank if truncate else ~blank & ~over
    source, target = (_cut_sequences(*side, kept) for side in zip(ids, lengths, longest, strict=True))
    dropped, truncated = (0, int(over.sum())) if truncate else (int(over.sum()), 0)
    return EncodedPairs(source, target, first + np.flatnonzero(kept), int(blank.sum()), dropped, truncated)


def _cut_sequences(
    ids: Int32[np.ndarray, "ids"], lengths: Int64[np.ndarray, "pairs"], longest: int, kept: Bool[np.ndarray, "pairs"]
) -> Sequences:
    """The kept sequences, with no more than `longest` ids of each."""
    starts = np.cumsum(lengths) - lengths
    inside = np.arange(len(ids)) - np.repeat(starts, lengths)
    return _sequences(ids[np.repeat(kept, lengths) & (inside < longest)], np.minimum(lengths[kept], longest))


def write_pairs(folder: Path, chunks: Iterable[EncodedPairs], progress: Callable[[int], None]) -> None:
    """Append chunk after chunk to the files of a folder; calls `progress` with the number of pairs read."""
    counts = dict.fromkeys(("blank", "dropped", "truncated"), 0)
    kept = 0
    with ExitStack() as open_files:
        files = {name: open_files.enter_context((folder / name).open("wb")) for name in _FILES}
        ends = {"source": 0, "target": 0}
        for side in ends:
            files[f"{side}.offsets"].write(bytes(8))
        for chunk in chunks:
            arrays = {"numbers": chunk.numbers}
            for side, sequences in (("source", chunk.source), ("target", chunk.target)):
                arrays[f"{side}.ids"] = sequences.ids
                arrays[f"{side}.offsets"] = ends[side] + sequences.offsets[1:]
                ends[side] += len(sequences.ids)
            for name, array in arrays.items():
                files[name].write(array.astype(_FILES[name]).tobytes())
            for name in counts:
                counts[name] += getattr(chunk, name)
            kept += len(chunk)
            progress(kept + counts["blank"] + counts["dropped"])
    _refuse_empty(kept, counts["blank"], counts["dropped"])
    (folder / _COUNTS).write_text(json.dumps(counts), encoding="utf-8")


def map_pairs(folder: Path) -> EncodedPairs:
    """The arrays that `write_pairs` wrote, memory-mapped: pages are read when a batch needs them."""
    arrays = {name: np.memmap(folder / name, dtype, "r") for name, dtype in _FILES.items()}
    source, target = (Sequences(arrays[f"{side}.ids"], arrays[f"{side}.offsets"]) for side in ("source", "target"))
    return EncodedPairs(source, target, arrays["numbers"], **read_json(folder / _COUNTS))
