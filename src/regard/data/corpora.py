"""Corpora in files: TSV, CSV and parallel text as a stream of pairs; pairing is verified, blank lines are counted."""

import csv
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path

from regard.alignment.formats import parse_pharaoh
from regard.alignment.links import Links
from regard.bounds import cut
from regard.data.lines import find_file, read_lines
from regard.data.pair import Pair
from regard.suggest import suggest
from regard.text.input_error import InputError
from regard.text.words import word_spans

Columns = Sequence[int] | Sequence[str]
Fields = Iterator[tuple[int, list[str]]]


def read_tsv(
    path: Path, columns: Columns | None = None, skipped: list[int] | None = None, *, header: bool = False
) -> Iterator[Pair]:
    """One pair a line, source TAB target; or the two `columns`, counted from 1 or by name, of lines that have more.

    The numbers of lines with a blank side are appended to `skipped`. With a `header`, the first line names the columns.
    """
    path = find_file(path)
    fields = ((number, line.split("\t") if line.strip() else []) for number, line in enumerate(read_lines(path), 1))
    return _pairs(path, fields, columns, skipped, header, "TAB")


def read_csv(
    path: Path,
    columns: Columns | None = None,
    skipped: list[int] | None = None,
    *,
    header: bool = True,
    delimiter: str = ",",
) -> Iterator[Pair]:
    """The pairs of a CSV file (RFC 4180): as `read_tsv`, but values in double quotes may contain delimiters, quotes and
    line breaks.
    """
    path = find_file(path)
    return _pairs(path, _csv_fields(path, delimiter), columns, skipped, header, ",")


def _csv_fields(path: Path, delimiter: str) -> Fields:
    rows = csv.reader((f"{line}\n" for line in read_lines(path)), delimiter=delimiter, strict=True)
    first = 1
    try:
        for row in rows:
            yield first, row
            first = rows.line_num + 1
    except csv.Error as problem:
        raise InputError(
            f"{path}, line {first}: not CSV ({problem}): quotes inside a quoted value are doubled, and each quoted "
            "value is closed"
        ) from None


def _pairs(
    path: Path, rows: Fields, columns: Columns | None, skipped: list[int] | None, header: bool, between: str
) -> Iterator[Pair]:
    """`between` is what separates the columns, as messages write it."""
    _check_columns(columns)
    names = next(rows, (1, []))[1] if header else []
    first, second = _find_columns(columns, [name.strip() for name in names], path)
    found = 0
    for number, fields in rows:
        if fields and columns is None and len(fields) != 2:
            raise InputError(f"{path}, line {number}: {_wrong_count(len(fields), path, between)}")
        if fields and len(fields) < max(first, second):
            wanted = ", ".join(map(repr, columns or ()))
            raise InputError(f"{path}, line {number}: {len(fields)} columns, but columns = [{wanted}] was requested")
        source, target = (fields[first - 1], fields[second - 1]) if fields else ("", "")
        if source.strip() and target.strip():
            found += 1
            yield Pair(source, target)
        elif skipped is not None:
            skipped.append(number)
    if not found:
        raise InputError(f"{path} holds no pair; expected lines of source {between} target")


def _check_columns(columns: Columns | None) -> None:
    if columns is None:
        return
    counted = [one for one in columns if isinstance(one, int)]
    if len(columns) != 2 or min(counted, default=1) < 1 or columns[0] == columns[1]:
        raise InputError(f"columns = {list(columns)}: expected two different columns, counted from 1, e.g. [1, 2]")


def _find_columns(columns: Columns | None, names: Sequence[str], path: Path) -> tuple[int, int]:
    """The columns, counted from 1; names are looked up in the header."""
    places = []
    for one in columns or (1, 2):
        if isinstance(one, int):
            places.append(one)
        elif names.count(one) == 1:
            places.append(names.index(one) + 1)
        elif one in names:
            raise InputError(
                f"{path}: the header names {names.count(one)} columns '{cut(one)}': count them, as in [1, 2]"
            )
        else:
            raise InputError(f"{path}: no column '{cut(one)}' in the header: {suggest(one, names, 'columns')}")
    return places[0], places[1]


def _wrong_count(given: int, path: Path, between: str) -> str:
    if between == ",":
        if given == 1:
            return 'no delimiter; expected two values, or set delimiter in the recipe\'s [data], e.g. delimiter = ";"'
        return f"{given} values, expected 2; name two columns in the recipe's [data], e.g. columns = [1, 2]"
    if given == 1:
        return "no tab; expected source TAB target"
    return (
        f"{given} columns, expected 2; to read the first two, set columns = [1, 2] in the recipe's [data], "
        f"or keep only them: cut -f 1,2 {path.name}"
    )


def read_parallel(
    source: Path, target: Path, links: Path | None = None, skipped: list[int] | None = None, turned: bool = False
) -> Iterator[Pair]:
    """Line i of one file translates line i of the other; line i of `links` (0-based, Pharaoh) aligns them.

    Links that are `turned` name the target word first.
    """
    files = [find_file(path) for path in (source, target, links) if path is not None]
    streams = [read_lines(path) for path in files]
    rows = 0
    for number, lines in zip(count(1), zip_longest(*streams)):
        if None in lines:
            raise InputError(_unequal(files, streams, number, lines))
        if not (lines[0].strip() and lines[1].strip()):
            if skipped is not None:
                skipped.append(number)
            continue
        rows += 1
        where = f"{files[-1]}, line {number}"
        yield Pair(lines[0], lines[1], _parse_links(lines[2], lines[0], lines[1], where, turned) if links else None)
    if not rows:
        raise InputError(f"{files[0]} and {files[1]} hold no pair: every line is blank on one side or there is none")


def _unequal(files: Sequence[Path], streams: Sequence[Iterator[str]], number: int, lines: Sequence[str | None]) -> str:
    """The message with both line counts, found by reading both files to the end."""
    counts = [
        number - 1 if line is None else number + sum(1 for _ in stream)
        for line, stream in zip(lines, streams, strict=True)
    ]
    found = ", ".join(f"{path} has {lines:,}" for path, lines in zip(files, counts, strict=True))
    longest = files[counts.index(max(counts))]
    return f"unequal line counts: {found}; line {number} of {longest} is the first without a partner"


def _parse_links(line: str, source: str, target: str, where: str, turned: bool) -> Links:
    try:
        links = parse_pharaoh(line, where=where)
    except ValueError as problem:
        raise InputError(str(problem)) from None
    if turned:
        links = links.flipped()
    # Largest number of words that any way of splitting gives.
    most = len(word_spans(source)), len(word_spans(target))
    for link in sorted(links.possible):
        if link[0] >= most[0] or link[1] >= most[1]:
            raise InputError(
                f"{where}: link {link[0]}-{link[1]} lies outside the pair of {most[0]} source and {most[1]} target "
                "words; links count from 0, source word first"
            )
    return links
