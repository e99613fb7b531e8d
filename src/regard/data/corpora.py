"""Corpora in files: TSV and parallel text, read as a stream of pairs; pairing is verified, blank lines are counted."""

from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path

from regard.alignment.formats import parse_pharaoh
from regard.alignment.links import Links
from regard.data.lines import find_file, read_lines
from regard.data.pair import Pair
from regard.text.errors import InputError
from regard.text.words import word_spans


def read_tsv(path: Path, columns: Sequence[int] | None = None, skipped: list[int] | None = None) -> Iterator[Pair]:
    """One pair a line, source TAB target; or the two `columns`, counted from 1, of lines that have more.

    The numbers of lines with a blank side are appended to `skipped`.
    """
    first, second = _check_columns(columns)
    path = find_file(path)
    rows = 0
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("\t")
        if line.strip() and columns is None and len(fields) != 2:
            raise InputError(f"{path}, line {number}: {_wrong_columns(len(fields), path)}")
        if line.strip() and len(fields) < max(first, second):
            raise InputError(
                f"{path}, line {number}: {len(fields)} columns, but columns = [{first}, {second}] was asked for"
            )
        source, target = (fields[first - 1], fields[second - 1]) if line.strip() else ("", "")
        if source.strip() and target.strip():
            rows += 1
            yield Pair(source, target)
        elif skipped is not None:
            skipped.append(number)
    if not rows:
        raise InputError(f"{path} holds no pair; wanted lines of source TAB target")


def _check_columns(columns: Sequence[int] | None) -> tuple[int, int]:
    if columns is None:
        return 1, 2
    if len(columns) != 2 or min(columns) < 1 or columns[0] == columns[1]:
        raise InputError(f"columns = {list(columns)}: wanted two different columns, counted from 1, e.g. [1, 2]")
    return columns[0], columns[1]


def _wrong_columns(given: int, path: Path) -> str:
    if given == 1:
        return "no tab; wanted source TAB target"
    return (
        f"{given} columns, wanted 2; to read the first two, say columns = [1, 2] in the recipe's [data], "
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
    """Both counts, found by reading on to the end."""
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
    # Whatever the words are split by, there are at most so many.
    most = len(word_spans(source)), len(word_spans(target))
    for link in sorted(links.possible):
        if link[0] >= most[0] or link[1] >= most[1]:
            raise InputError(
                f"{where}: link {link[0]}-{link[1]} lies outside the pair of {most[0]} source and {most[1]} target "
                "words; links count from 0, source word first"
            )
    return links
