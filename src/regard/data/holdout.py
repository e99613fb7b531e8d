"""A share of a corpus held out for dev or test, decided by the source texts alone."""

import hashlib
import math
from collections.abc import Iterable

from regard.data.pair import Pair
from regard.text.errors import InputError


def hold_out(pairs: Iterable[Pair], share: float, splits: tuple[str, ...]) -> dict[str, list[Pair]]:
    """The pairs by split: "train" and each of `splits` ("dev", "test"), which get `share` of the source texts each.

    Pairs with one source text stay together, so no held-out source is ever trained on. The order of the corpus has no
    influence, and dev holds the same pairs whether or not test is held out too.
    """
    pairs = list(pairs)
    keys = [_key(pair.source) for pair in pairs]
    ranked = sorted(set(keys))
    size = math.ceil(share * len(ranked))
    if size * len(splits) >= len(ranked):
        raise InputError(
            f"{len(ranked)} different source sentences are too few to hold out a share of {share} for "
            f"{' and '.join(splits)}: give {' and '.join(splits)} files, or a smaller held_out"
        )
    owner = dict.fromkeys(ranked[:size], "dev") if "dev" in splits else {}
    if "test" in splits:
        owner |= dict.fromkeys(ranked[-size:], "test")
    found: dict[str, list[Pair]] = {split: [] for split in ("train", *splits)}
    for pair, key in zip(pairs, keys, strict=True):
        found[owner.get(key, "train")].append(pair)
    return found


def _key(source: str) -> bytes:
    """Sentences that differ in white space alone count as one."""
    return hashlib.blake2b(" ".join(source.split()).encode(), digest_size=8).digest()
