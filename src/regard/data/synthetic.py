"""Copy, reverse and sort: sequences of numbers whose right alignment is known."""

import hashlib
from collections.abc import Sequence
from random import Random
from typing import Literal

from regard.alignment.links import Links
from regard.data.pair import Pair
from regard.text.input_error import InputError

Task = Literal["copy", "reverse", "sort"]
Split = Literal["train", "dev", "test"]

FIRST_SYMBOL = 3
"""The symbols are "3" … str(vocabulary - 1) unless a recipe sets `first`."""
_ATTEMPTS = 2_000
"""Draws for each sequence before giving up; one draw in ten falls to dev, one to test."""


def synthetic(
    task: Task,
    vocabulary: int,
    shortest: int,
    longest: int,
    count: int,
    seed: int = 0,
    split: Split = "train",
    first: int = FIRST_SYMBOL,
) -> list[Pair]:
    """`count` pairs with `shortest` to `longest` words, the same on every machine for the same seed.

    A sequence belongs to one split for every seed and task, so no two splits share one.

    >>> (pair,) = synthetic("reverse", 50, 3, 3, 1)
    >>> pair.target.split() == pair.source.split()[::-1]
    True
    """
    if vocabulary <= first:
        raise InputError(
            f"vocabulary = {vocabulary} leaves no symbol: symbols are the numbers from {first} to vocabulary - 1"
        )
    if not 1 <= shortest <= longest:
        raise InputError(f"lengths from {shortest} to {longest}: expected 1 <= shortest <= longest")
    # Random.random is the only method whose numbers Python guarantees to keep.
    random = Random(f"{seed} {split}").random
    symbols = vocabulary - first
    pairs: list[Pair] = []
    missed = 0
    while len(pairs) < count:
        length = shortest + int(random() * (longest - shortest + 1))
        numbers = [first + int(random() * symbols) for _ in range(length)]
        source = " ".join(map(str, numbers))
        if _split_of(source) == split:
            pairs.append(_pair(task, numbers))
            missed = 0
        elif (missed := missed + 1) > _ATTEMPTS:
            raise InputError(
                f"too few different sequences of {shortest} to {longest} words from {symbols} symbols to give each "
                "split its own: raise vocabulary or longest"
            )
    return pairs


def _split_of(source: str) -> Split:
    draw = int.from_bytes(hashlib.blake2b(source.encode(), digest_size=8).digest(), "big") % 10
    return "dev" if draw == 0 else "test" if draw == 1 else "train"


def _pair(task: Task, numbers: Sequence[int]) -> Pair:
    places = range(len(numbers))
    orders = {"copy": places, "reverse": reversed(places), "sort": sorted(places, key=numbers.__getitem__)}
    order = list(orders[task])  # which source word each target word is
    return Pair(
        " ".join(map(str, numbers)),
        " ".join(str(numbers[place]) for place in order),
        Links.of((place, target) for target, place in enumerate(order)),
    )
