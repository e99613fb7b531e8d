"""Reads safetensors files: the header is checked against the shapes of the model before any tensor is read."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from regard.bounds import MOST, cut, excerpt
from regard.reading_files import open_regular, parse_json

Shape = tuple[int, ...]
_WIDEST = 8
"""Bytes of the largest number that a tensor holds."""


def read_tensors(path: Path, wanted: Mapping[str, Shape] | None = None, most: int | None = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file, if they have the names and shapes in `wanted`, or at most `most` numbers.

    A forged header cannot make it allocate memory. A ValueError describes the problem: "holds another model …".
    """
    with open_regular(path) as file:
        header = _read_header(file)
        if wanted is not None:
            _check_shapes(header, wanted)
        numbers = sum(map(math.prod, (wanted or header).values())) if most is None else most
        size = os.fstat(file.fileno()).st_size
        if size > 8 + MOST["header"] + _WIDEST * numbers:
            raise ValueError(f"has {size:,} bytes, more than {numbers:,} numbers take")
    try:
        return dict(load_file(path))
    except SafetensorError as error:
        raise ValueError(f"cannot be read as safetensors ({cut(str(error))})") from error


def most_bytes(shapes: Mapping[str, Shape]) -> int:
    """The largest size of a file with tensors of these shapes."""
    return 8 + MOST["header"] + _WIDEST * sum(map(math.prod, shapes.values()))


def _read_header(file: BinaryIO) -> dict[str, Shape]:
    """The shape of every tensor, by its name."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, MOST["header"]):
        most = min(max(size - 8, 0), MOST["header"])
        raise ValueError(f"cannot be read as safetensors (a header of {length:,} bytes, at most {most:,} fit)")
    try:
        content = parse_json(file.read(length).decode("utf-8", "replace"), unique=True)
        if not isinstance(content, dict):
            raise ValueError("the header is not an object")
        content.pop("__metadata__", None)
        if len(content) > MOST["tensors"]:
            raise ValueError(f"{len(content):,} tensors, at most {MOST['tensors']:,} are read")
        return {name: _shape(name, tensor) for name, tensor in content.items()}
    except ValueError as error:
        raise ValueError(f"cannot be read as safetensors ({error})") from error


def _shape(name: str, tensor: Any) -> Shape:
    shape = tensor.get("shape") if isinstance(tensor, dict) else None
    if not isinstance(shape, list) or len(shape) > 8 or not all(type(one) is int and 0 <= one < 2**63 for one in shape):
        raise ValueError(f"the tensor {excerpt(name)} has the shape {excerpt(shape)}")
    return tuple(shape)


def _check_shapes(given: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> None:
    if given == wanted:
        return
    names = sorted(name for name in {**wanted, **given} if wanted.get(name) != given.get(name))
    first, rest = names[0], f" and {len(names) - 1} more" if len(names) > 1 else ""
    raise ValueError(
        f"holds another model than its manifest describes: {cut(first)} is {_written(given.get(first))} and should "
        f"be {_written(wanted.get(first))}{rest}"
    )


def refuse_holes(path: Path) -> None:
    """Raise for a large sparse file: it takes little space on the disk, but its full size in memory."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST["header"] and _written_bytes(file, size) < size // 2:
            raise ValueError("is sparse: more than half of it was never written")


def _written_bytes(file: BinaryIO, size: int) -> int:
    """Bytes outside the holes of a sparse file; all bytes if the system does not report holes."""
    if not hasattr(os, "SEEK_HOLE"):
        return size
    written, place = 0, 0
    try:
        while place < size:
            start = os.lseek(file.fileno(), place, os.SEEK_DATA)
            place = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            written += place - start
    except OSError:  # nothing but a hole up to the end
        pass
    return written


def _written(shape: Shape | None) -> str:
    return "absent" if shape is None else excerpt(list(shape))
