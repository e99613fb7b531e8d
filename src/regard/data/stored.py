"""Encoded pairs as memory-mapped files."""

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from regard.data.dataset import EncodedPairs, Sequences, refuse_empty
from regard.reading_files import read_json

_FILES = {"source.ids": "<i4", "source.offsets": "<i8", "target.ids": "<i4", "target.offsets": "<i8", "numbers": "<i8"}
"""Each array with its dtype."""
_COUNTS = "about.json"


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
    refuse_empty(kept, counts["blank"], counts["dropped"])
    (folder / _COUNTS).write_text(json.dumps(counts), encoding="utf-8")


def map_pairs(folder: Path) -> EncodedPairs:
    """The arrays that `write_pairs` wrote, memory-mapped: pages are read when a batch needs them."""
    arrays = {name: np.memmap(folder / name, dtype, "r") for name, dtype in _FILES.items()}
    source, target = (Sequences(arrays[f"{side}.ids"], arrays[f"{side}.offsets"]) for side in ("source", "target"))
    return EncodedPairs(source, target, arrays["numbers"], **read_json(folder / _COUNTS))
