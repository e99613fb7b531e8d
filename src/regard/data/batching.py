"""Encoded pairs -> batches of similar length, in an order that (seed, epoch) alone decides."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64

from regard.data.batch import Batch
from regard.data.dataset import EncodedPairs, Sequences
from regard.data.guidance import Guidance, PieceLinks
from regard.text.input_error import InputError
from regard.text.special import BOS, EOS, PAD

Indices = Int64[np.ndarray, "rows"]


@dataclass(frozen=True)
class EpochBatcher:
    """Divides an epoch into batches. The position of a run is (epoch, number of batches done).

    Give either `tokens`, the upper limit of rows × longest row on each side (padding, BOS and EOS included), or
    `sentences`, the number of rows. With `bucket` the rows of a batch are of similar length, with `shuffle` epochs
    differ; without either, batches follow the order of the data.

    With `multiple` above 1 all batches are padded to multiples of it, and buckets hold one padded length on each side:
    few shapes, which recur, so that CUDA graphs can be replayed. A batch that is less than half full is merged with
    its neighbours; otherwise every length would end in a batch of a few rows.
    """

    data: EncodedPairs
    tokens: int | None = None
    sentences: int | None = None
    seed: int = 0
    source_eos: bool = True
    bucket: bool = True
    shuffle: bool = True
    guide: Guidance[PieceLinks] | None = None
    multiple: int = 1

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.sentences is None):
            raise InputError(f"a batch is limited by tokens or by sentences: give one of the two, not {self._size()}")
        if any(size is not None and size < 1 for size in (self.tokens, self.sentences)):
            raise InputError(f"a batch needs at least one sentence: {self._size()} is too few")
        longest = int(np.maximum(*self._columns()).max())
        if self.tokens is not None and longest > self.tokens:
            raise InputError(
                f"a sentence of {longest} tokens (BOS/EOS counted) does not fit into a batch of {self.tokens}: raise "
                f"batch_tokens to {longest}, or leave long sentences out with longest_source and longest_target"
            )

    def _size(self) -> str:
        return f"tokens = {self.tokens}, sentences = {self.sentences}"

    def _lengths(self) -> tuple[Indices, Indices]:
        """Source positions and decoder steps of each item."""
        return self.data.source.lengths + int(self.source_eos), self.data.target.lengths + 1

    def _columns(self) -> tuple[Indices, Indices]:
        """The lengths of `_lengths`, padded."""
        source, target = self._lengths()
        return self.padded(source), self.padded(target)

    def padded(self, lengths: Indices) -> Indices:
        """The lengths rounded up to multiples of `multiple`, as a batch has them."""
        columns: Indices = -(-lengths // self.multiple) * self.multiple
        return columns

    def decoder_steps(self, items: Indices) -> Indices:
        """The decoder steps of some items: their target's ids and EOS."""
        offsets = self.data.target.offsets
        steps: Indices = offsets[items + 1] - offsets[items] + 1
        return steps

    def plan(self, epoch: int = 0) -> list[Indices]:
        """The items of each batch of an epoch, in order."""
        # NumPy guarantees that RandomState gives the same numbers in every version.
        random = np.random.RandomState([self.seed & 0xFFFFFFFF, epoch])
        order = random.permutation(len(self.data)) if self.shuffle else np.arange(len(self.data))
        source, target = self._columns()
        if self.bucket:
            # Within one source length, sort by target length: ascending, and with padding to multiples descending for
            # every second source length, so that consecutive batches have similar shapes.
            falls = (self.multiple > 1) & (source // self.multiple % 2 == 1)
            order = order[np.lexsort((np.where(falls, -target, target)[order], source[order]))]
        batches = np.split(order, self._cuts(source[order], target[order]))
        if self.shuffle:
            batches = [batches[place] for place in random.permutation(len(batches))]
        return batches

    def _cuts(self, source: Indices, target: Indices) -> list[int]:
        """Where a new batch begins."""
        if self.sentences is not None:
            return list(range(self.sentences, len(source), self.sentences))
        assert self.tokens is not None
        cuts: list[int] = []
        first = longest = 0
        changes = (np.diff(source, prepend=source[:1]) != 0) | (np.diff(target, prepend=target[:1]) != 0)
        if not self.bucket or self.multiple == 1:
            changes[:] = False  # without padding to multiples, one length is too rare for its own batches
        for place, (length, change) in enumerate(zip(np.maximum(source, target).tolist(), changes, strict=True)):
            half_full = 2 * (place - first) * longest >= self.tokens
            longest = max(longest, length)
            if (change and half_full) or (place + 1 - first) * longest > self.tokens:
                cuts.append(place)
                first, longest = place, length
        return cuts

    def batch(self, items: Indices) -> Batch:
        """These items as one batch."""
        source, source_lengths = _pad(self.data.source, items, False, self.source_eos, self.multiple)
        target, target_lengths = _pad(self.data.target, items, True, True, self.multiple)
        size = target.shape[1] - 1, source.shape[1]
        return Batch(
            torch.from_numpy(source),
            torch.from_numpy(source_lengths),
            torch.from_numpy(target),
            torch.from_numpy(target_lengths - 1),
            torch.from_numpy(items.astype(np.int64)),
            None if self.guide is None else self.guide.map(lambda links: links.dense(items, *size)),
        )

    def largest_batch(self) -> Batch:
        """The batch with most slots, for the dry run that checks memory.

        Bucketed batches have the same shapes in every epoch; otherwise the longest items make up the worst batch.
        """
        source, target = self._columns()
        if self.bucket:
            worst = max(self.plan(), key=lambda items: len(items) * (source[items].max() + target[items].max()))
        else:
            longest = np.maximum(source, target)
            rows = self.sentences if self.tokens is None else self.tokens // int(longest.max())
            worst = np.argsort(-longest, kind="stable")[:rows]
        return self.batch(worst)

    def efficiency(self) -> float:
        """The share of real tokens among all slots that the first epoch computes, 0 to 1."""
        source, target = self._columns()
        slots = sum(len(items) * int(source[items].max() + target[items].max()) for items in self.plan())
        return float(sum(real.sum() for real in self._lengths())) / slots


def _pad(
    sequences: Sequences, items: Indices, begin: bool, end: bool, multiple: int
) -> tuple[Int64[np.ndarray, "rows columns"], Int64[np.ndarray, "rows"]]:
    """Rows of ids with BOS and EOS on request, and how many ids of each row are real.

    The number of columns, without BOS, is a multiple of `multiple`.
    """
    offsets = sequences.offsets[items]
    lengths = sequences.offsets[items + 1] - offsets
    whole = lengths + int(begin) + int(end)
    columns = np.arange(int(begin) - (-(whole.max() - int(begin)) // multiple) * multiple)
    inside = columns - int(begin)
    # The last index of a row may lie beyond the ids; any id will do, it is overwritten.
    places = np.minimum(np.maximum(offsets[:, None] + inside, 0), len(sequences.ids) - 1)
    padded = np.where(inside < lengths[:, None], sequences.ids[places], np.int64(PAD))
    if begin:
        padded[:, 0] = BOS
    if end:
        padded[np.arange(len(items)), whole - 1] = EOS
    return padded, whole
