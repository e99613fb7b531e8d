"""Encoded pairs as files that are read without loading them: arrays one after the other, mapped into memory."""

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from regard.data.dataset import EncodedChunk, EncodedPairs, Sequences, refuse_nothing
from regard.reading_files import read_json

_SIDES = ("source", "target")
_IDS, _PLACES = "<i4", "<i8"
_ABOUT = "about.json"


def write_pairs(folder: Path, chunks: Iterable[EncodedChunk], tell: Callable[[int], None]) -> None:
    """Append chunk after chunk to the files of a folder; `tell` hears how many pairs were looked at."""
    blank = dropped = truncated = kept = 0
    ends = [0, 0]
    with ExitStack() as open_files:

        def new(name: str) -> Any:
            return open_files.enter_context((folder / name).open("wb"))

        ids, offsets = ([new(f"{side}.{name}") for side in _SIDES] for name in ("ids", "offsets"))
        numbers = new("numbers")
        for file in offsets:
            file.write(np.zeros(1, _PLACES).tobytes())
        for chunk in chunks:
            for side in (0, 1):
                ids[side].write(chunk.ids[side].astype(_IDS).tobytes())
                offsets[side].write((ends[side] + np.cumsum(chunk.lengths[side])).astype(_PLACES).tobytes())
                ends[side] += len(chunk.ids[side])
            numbers.write(chunk.numbers.astype(_PLACES).tobytes())
            blank, dropped, truncated = blank + chunk.blank, dropped + chunk.dropped, truncated + chunk.truncated
            kept += len(chunk.numbers)
            tell(kept + blank + dropped)
    refuse_nothing(kept, blank, dropped)
    about = {"blank": blank, "dropped": dropped, "truncated": truncated}
    (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")


def map_pairs(folder: Path) -> EncodedPairs:
    """What `write_pairs` wrote; the system reads a page when a batch needs it, and may forget it again."""
    source, target = (
        Sequences(np.memmap(folder / f"{side}.ids", _IDS, "r"), np.memmap(folder / f"{side}.offsets", _PLACES, "r"))
        for side in _SIDES
    )
    about = read_json(folder / _ABOUT)
    return EncodedPairs(source, target, np.memmap(folder / "numbers", _PLACES, "r"), **about)
