"""Corpora of records with named fields: JSON lines, Parquet and Hugging Face datasets, read as a stream of pairs."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.bounds import MOST, cut
from regard.data.lines import find_file, import_extra, read_lines
from regard.data.pair import Pair
from regard.data.parquet_batches import NOT_UTF8, read_columns
from regard.reading_files import parse_json
from regard.suggest import suggest
from regard.text.input_error import InputError

_SURROGATE = re.compile("[\ud800-\udfff]")
_ROWS = 4096
"""Records that are unpacked at a time."""


def read_jsonl(path: Path, source: str, target: str, skipped: list[int] | None = None) -> Iterator[Pair]:
    """One JSON object a line; `source` and `target` name its fields, `translation.en` one inside another.

    The numbers of lines with a blank side are appended to `skipped`, as in the other readers.
    """
    path = find_file(path)
    return _pairs(_json_rows(path), source, target, skipped, str(path))


def read_parquet(path: Path, source: str, target: str, skipped: list[int] | None = None) -> Iterator[Pair]:
    """A Parquet file, a few thousand rows at a time; `source` and `target` name its columns."""
    path = find_file(path)
    return _pairs(_parquet_rows(path, source, target), source, target, skipped, str(path))


def read_dataset(dataset: Any, source: str, target: str, skipped: list[int] | None = None) -> Iterator[Pair]:
    """A split of a Hugging Face dataset that `open_dataset` returned."""
    where = f"the split {dataset.split}"
    return _pairs(enumerate(_dataset_rows(dataset, where), 1), source, target, skipped, where)


def open_dataset(name: str, subset: str | None, revision: str | None, split: str) -> Any:
    """A split of a dataset on the Hugging Face hub, of a folder of data files, or of what `save_to_disk` wrote."""
    library = import_extra("datasets", f'the dataset "{name}"')
    library.disable_progress_bars()
    try:
        if any((Path(name) / mark).is_file() for mark in ("dataset_dict.json", "state.json")):
            found = library.load_from_disk(name)
            splits = found if isinstance(found, dict) else {"train": found}
            if split not in splits:
                raise InputError(f'the dataset in {name} has no split "{split}"; it has {", ".join(splits)}')
            return splits[split]
        if name in dir(library.packaged_modules):  # it would read files of the current folder, some with pickle
            raise InputError(
                f'"{name}" is a file format of the package datasets, not a dataset: name a dataset or folder'
            )
        # Before version 4, datasets could contain Python code: it is refused without a prompt.
        return library.load_dataset(name, subset, revision=revision, split=split, trust_remote_code=False)
    except InputError:
        raise
    except Exception as problem:  # the library passes on any error of the network, the hub or a file
        reason = " ".join(str(problem).split())
        raise InputError(f'cannot open split "{split}" of the dataset "{name}": {cut(reason, 500)}') from None


def guess_fields(path: Path) -> tuple[str, str]:
    """Which fields of a file are source and target, from its first record: by name, or the only two texts."""
    path = find_file(path)
    rows = _parquet_rows(path, "", "") if path.name.endswith(".parquet") else _json_rows(path)
    _, row = next(rows, (0, None))
    if row is None:
        raise InputError(f"{path} is empty: expected records with a source and a target")
    if all(isinstance(row.get(name, 0), str | None) for name in ("source", "target")):
        return "source", "target"
    texts = [name for name in _names(row) if isinstance(_value(row, name), str)]
    nested = [name for name in texts if name.startswith("translation.")]
    for found in (nested, texts):
        if len(found) == 2:
            return found[0], found[1]
    raise InputError(
        f"{path}: which fields are source and target? There are {', '.join(texts) or 'none with text'}; "
        "a recipe names them: kind, source and target in [data]"
    )


Rows = Iterator[tuple[int, Mapping[str, Any]]]


def _pairs(rows: Rows, source: str, target: str, skipped: list[int] | None, where: str) -> Iterator[Pair]:
    found = 0
    for number, row in rows:
        left, right = (_field(row, name, f"{where}, record {number}") for name in (source, target))
        if left.strip() and right.strip():
            found += 1
            yield Pair(left, right)
        elif skipped is not None:
            skipped.append(number)
    if not found:
        raise InputError(f"{where} holds no pair: every record is blank on one side, or there is none")


def _field(row: Mapping[str, Any], name: str, where: str) -> str:
    """The text of a field; null counts as blank."""
    try:
        value = _value(row, name)
    except KeyError:
        hint = suggest(name, _names(row), "fields")
        raise InputError(f'{where}: no field "{cut(name)}": {hint}') from None
    if value is None:
        return ""
    if not isinstance(value, str):
        inside = f"; {suggest(name, _names(row), 'fields')}" if isinstance(value, Mapping) else ""
        raise InputError(f'{where}: the field "{cut(name)}" is {type(value).__name__}, expected text{inside}')
    if len(value) > MOST["line"]:
        raise InputError(
            f'{where}: the field "{cut(name)}" has {len(value):,} characters, at most {MOST["line"]:,} are read: '
            "split or remove the record"
        )
    if not value.isascii() and (lone := _SURROGATE.search(value)):
        raise InputError(
            f'{where}: character {lone.start()} of the field "{cut(name)}" is half of a surrogate pair: '
            "the text was cut or decoded wrongly; fix or remove the record"
        )
    return value


def _value(row: Mapping[str, Any], name: str) -> Any:
    """The value of a field, or of a nested one; KeyError if there is none."""
    if name in row:  # also where the name itself has a point in it
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping):
            raise KeyError(name)
        value = value[part]
    return value


def _names(row: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _names(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _json_rows(path: Path) -> Rows:
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except ValueError as problem:
            raise InputError(f"{path}, line {number} is not JSON ({problem}); expected one object a line") from None
        if not isinstance(row, dict):
            kind = type(row).__name__
            raise InputError(
                f'{path}, line {number}: a {kind}, expected an object such as {{"source": …, "target": …}}'
            )
        yield number, row


def _parquet_rows(path: Path, source: str, target: str) -> Rows:
    columns = sorted({name.split(".")[0] for name in (source, target)})
    batches = read_columns(path, _ROWS, columns)
    return enumerate((row for batch in batches for row in _transposed(batch)), 1)


def _dataset_rows(dataset: Any, where: str) -> Iterator[dict[str, Any]]:
    try:
        for batch in dataset.iter(_ROWS):
            yield from _transposed(batch)
    except UnicodeDecodeError as problem:
        raise InputError(f"{where}: {NOT_UTF8.format(problem=problem)}") from None


def _transposed(batch: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """A batch of columns as rows."""
    for values in zip(*batch.values(), strict=True):
        yield dict(zip(batch, values, strict=True))
