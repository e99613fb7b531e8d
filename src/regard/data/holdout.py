"""A share of a corpus held out for dev or test, decided by the source texts alone."""

import hashlib
import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from regard.text.input_error import InputError
from regard.text.near_duplicates import bare

BY = "words"
"""The settings of the holdout; part of the cache key of prepared data."""


@dataclass(frozen=True)
class HeldOut:
    """Source texts are ranked by a hash: the lowest are dev, the highest test, where these are held out.

    Pairs whose sources are near-duplicates (but for case, punctuation and white space) stay together, so no held-out
    source is trained on. The order of the corpus has no influence, and dev is the same whether or not test is held
    out too.
    """

    dev_below: int
    test_from: int
    pairs: int
    """The number of pairs, and how many of them are dev and test."""
    dev: int
    test: int

    def split_of(self, source: str) -> str:
        rank = _rank(source)
        return "dev" if rank < self.dev_below else "test" if rank >= self.test_from else "train"


def hold_out(sources: Iterable[str], share: float, splits: tuple[str, ...]) -> HeldOut:
    """Choose `share` of the source texts for each of `splits` ("dev", "test"); eight bytes a text are kept."""
    every = np.frombuffer(array("Q", (_rank(source) for source in sources)), np.uint64)
    ranks = np.unique(every)
    size = math.ceil(share * len(ranks))
    if size * len(splits) >= len(ranks):
        some = "1 source sentence is" if len(ranks) == 1 else f"{len(ranks)} different source sentences are"
        raise InputError(
            f"{some} too few (but for case and punctuation) to hold out a share of {share} for {' and '.join(splits)}: "
            f"give {' and '.join(splits)} files, or a smaller held_out"
        )
    dev_below = int(ranks[size]) if "dev" in splits else 0
    test_from = int(ranks[-size]) if "test" in splits else 1 << 64
    dev = int((every < np.uint64(dev_below)).sum())
    test = int((every >= np.uint64(test_from)).sum()) if "test" in splits else 0
    return HeldOut(dev_below, test_from, len(every), dev, test)


def _rank(source: str) -> int:
    return int.from_bytes(hashlib.blake2b(bare(source).encode("utf-8", "replace"), digest_size=8).digest())
