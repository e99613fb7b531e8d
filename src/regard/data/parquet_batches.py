"""Rows of a Parquet file in batches of bounded memory: a file of a kilobyte may hold gigabytes of repeated text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from regard.bounds import MOST, cut
from regard.data.lines import import_extra
from regard.text.input_error import InputError

NOT_UTF8 = "a text is not UTF-8 ({problem}): write the file again with UTF-8 texts"
TEXT = 64 << 20
"""Bytes of a batch when it is unpacked; a single row may have more."""


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of the disk and of pyarrow inside the block are raised as an InputError."""
    library = import_extra("pyarrow", f"the Parquet file {path}")
    try:
        yield
    except (OSError, library.ArrowException) as problem:
        raise InputError(f"{path} cannot be read as Parquet: {cut(' '.join(str(problem).split()), 500)}") from None


def open_parquet(path: Path) -> Any:
    """An open file; its texts stay compressed as references to a dictionary, however often one is repeated."""
    parquet = import_extra("pyarrow.parquet", f"the Parquet file {path}")
    with _reading(path):
        with parquet.ParquetFile(path, memory_map=True) as file:
            columns = [file.schema.column(number) for number in range(len(file.schema))]
        texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.path == one.name]
        return parquet.ParquetFile(path, memory_map=True, read_dictionary=texts)


def read_columns(path: Path, rows: int, columns: Sequence[str]) -> Iterator[dict[str, list[Any]]]:
    """The columns in batches of at most `rows` rows; columns that the file does not have mean all."""
    try:
        for batch in read_batches(path, rows, columns):
            yield {name: batch[name].to_pylist() for name in batch.schema.names}
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: {NOT_UTF8.format(problem=problem)}") from None
    except OverflowError as problem:
        raise InputError(f"{path}: a value has no equivalent in Python ({problem}): change or remove it") from None


def read_batches(
    path: Path, rows: int, columns: Sequence[str] | None = None, groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Arrow batches of at most `rows` rows; InputError if a cell or a row group is too large.

    `columns` that the file does not have mean all; `groups` are numbers of row groups.
    """
    with _reading(path), open_parquet(path) as file:
        names = file.schema_arrow.names
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f'{path} has several columns "{cut(twice)}": rename them')
        known = columns if columns is not None and {*columns} <= {*names} else None
        chosen = list(range(file.metadata.num_row_groups) if groups is None else groups)
        nested = max((_nested_bytes(file.metadata.row_group(group), path, known) for group in chosen), default=0)
        few = min(rows if columns == known else 1, MOST["column"] // max(1, nested))
        for batch in file.iter_batches(few, columns=known, row_groups=chosen):
            for name in batch.schema.names:
                _check_cells(batch[name], path, name)
            yield from _portions(batch)


def texts_of(array: Any) -> list[str | None] | None:
    """The texts of an Arrow array, bytes that are not UTF-8 as lone surrogates; None if it holds something else."""
    import pyarrow

    kind = pyarrow.types
    if kind.is_dictionary(array.type):
        array = array.dictionary_decode()
    if kind.is_null(array.type):
        return [None] * len(array)
    tests = (kind.is_string, kind.is_large_string, kind.is_string_view, kind.is_binary, kind.is_large_binary)
    if not any(is_text(array.type) for is_text in tests):
        return None
    found = array.cast(pyarrow.large_binary()).to_pylist()
    return [None if one is None else one.decode(errors="surrogateescape") for one in found]


def _nested_bytes(group: Any, path: Path, columns: Sequence[str] | None) -> int:
    """The bytes of the largest column inside another one, whose texts are repeated in memory; checks all sizes."""
    largest = 0
    for number in range(group.num_columns):
        column = group.column(number)
        outer, _, inner = column.path_in_schema.partition(".")
        if columns is not None and outer not in columns:
            continue
        size = column.total_uncompressed_size
        if size > MOST["column"]:
            raise InputError(
                f'{path}: the column "{cut(column.path_in_schema)}" of a row group has {size:,} bytes, at most '
                f"{MOST['column']:,} are read: write smaller row groups"
            )
        largest = max(largest, size if inner else 0)
    return largest


def _check_cells(array: Any, path: Path, name: str) -> None:
    longest = max((int(lengths.max()) for lengths in _lengths(array) if len(lengths)), default=0)
    if longest > MOST["line"]:
        raise InputError(
            f'{path}: a text of the column "{cut(name)}" has {longest:,} bytes, at most {MOST["line"]:,} are read: '
            "split or remove the record"
        )


def _portions(batch: Any) -> Iterator[Any]:
    """The batch, halved until its texts fit into memory together."""
    texts = sum(int(lengths.sum()) for column in batch.columns for lengths in _lengths(column))
    if batch.num_rows > 1 and texts > TEXT:
        half = batch.num_rows // 2
        yield from _portions(batch.slice(0, half))
        yield from _portions(batch.slice(half))
    else:
        yield batch


def _lengths(array: Any) -> Iterator[Int[np.ndarray, " texts"]]:
    """The bytes of every text of a column, also inside structs and lists; ArrowInvalid if a reference has no text."""
    import pyarrow
    import pyarrow.compute as compute

    kind = pyarrow.types
    if kind.is_struct(array.type):
        for field in array.flatten():
            yield from _lengths(field)
    elif kind.is_list(array.type) or kind.is_large_list(array.type):
        yield from _lengths(array.flatten())
    elif kind.is_map(array.type):
        yield from _lengths(array.keys)
        yield from _lengths(array.items)
    elif kind.is_dictionary(array.type):
        indices = compute.drop_null(array.indices).to_numpy()
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(array.dictionary):  # pyarrow does not check
            raise pyarrow.ArrowInvalid("a reference to a repeated value is out of range")
        for lengths in _lengths(array.dictionary):
            yield lengths[indices]
    elif any(is_text(array.type) for is_text in (kind.is_string, kind.is_binary, kind.is_large_string)):
        yield compute.fill_null(compute.binary_length(array), 0).to_numpy(zero_copy_only=False)
