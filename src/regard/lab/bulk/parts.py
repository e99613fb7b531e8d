"""Parts of files: which rows belong to one, reading them, and writing their translations under the part's own name.

    in/news.jsonl   →   out/news.jsonl/part-00000.jsonl, part-00001.jsonl, … and part-00001.bad.jsonl

A part is written atomically, so a part that exists is finished. Text, TSV and JSON lines are cut at byte offsets,
Parquet at its row groups; a compressed file is one part.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from regard.bounds import excerpt
from regard.data.lines import COMPRESSED, decode_lines, open_bytes, refuse_binary
from regard.data.parquet_batches import open_parquet, read_batches, texts_of
from regard.files import whole_file
from regard.reading_files import open_regular, parse_object
from regard.runtime.row_worker import WRITTEN, NoText
from regard.text.input_error import InputError

ROWS = 20_000
"""Approximate rows of a part: enough to outweigh its overhead, few enough to lose little when a worker dies."""
TOGETHER = 1_024
"""Rows that are translated by one call."""
KINDS = {".jsonl": "jsonl", ".tsv": "tsv", ".parquet": "parquet"}
NOT_LINES = (".csv", ".json", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".html", ".htm", ".xml", ".tmx",
           ".zip", ".tar", ".bz2", ".arrow")  # fmt: skip
"""Endings of files whose lines are not texts; every other ending is text, such as news.en."""
BLOCK = 1 << 24

Rows = dict[str, Any]
"""The columns by name: lists, or Arrow arrays of Parquet."""


@dataclass(frozen=True)
class Part:
    """Rows of one file: bytes `start` to `end` of its lines, or row groups `start` to `end` of Parquet."""

    file: str
    folder: str
    kind: str
    number: int
    first: int
    """The number of its first row in the file, from 0."""
    start: int
    end: int | None
    header: str = ""
    """The first line of TSV if it names the columns."""

    @property
    def place(self) -> Path:
        """Where its translations go."""
        return Path(self.folder) / f"part-{self.number:05d}.{'txt' if self.kind == 'text' else self.kind}"

    @property
    def bad(self) -> Path:
        """Where the rows are listed that have no translation, or a cut one."""
        return Path(self.folder) / f"part-{self.number:05d}.bad.jsonl"


def plan_parts(file: Path, folder: Path, rows: int = ROWS, column: str | None = None) -> list[Part]:
    """The parts of a file, in order; the first line of TSV is a header if it holds the name of the `column`."""
    ending = (file.suffix if file.suffix not in COMPRESSED else Path(file.stem).suffix).lower()
    if ending in NOT_LINES:
        raise InputError(
            f"{file}: a file with the ending {ending} cannot be translated; expected lines of text, .tsv, .jsonl or "
            ".parquet"
        )
    kind = KINDS.get(ending, "text")
    first_line = "" if kind == "parquet" else _first_line(file)
    named = kind == "tsv" and column is not None and not column.isdecimal() and column in first_line.split("\t")
    if kind == "parquet":
        edges, firsts = _row_groups(file, rows)
    elif file.suffix in COMPRESSED:
        edges, firsts = [0, None], [0]
    else:
        edges, firsts = _offsets(file, rows)
    spans = zip(edges, edges[1:], firsts, strict=False)
    return [
        Part(str(file), str(folder), kind, number, first or int(named), start or 0, end, first_line if named else "")
        for number, (start, end, first) in enumerate(spans)
    ]


def _first_line(file: Path) -> str:
    """The first line of a text file; InputError if it is no text."""
    with open_bytes(file) as stream:
        line = next(decode_lines(stream, str(file), "surrogateescape"), "")
    with open_bytes(file) as stream:
        refuse_binary(stream.read(4096), str(file))
    return line


def _offsets(file: Path, rows: int) -> tuple[list[int | None], list[int]]:
    """Byte offsets after every `rows` lines, from 0 to the end, and the number of the line that begins there."""
    edges: list[int | None] = [0]
    lines = position = 0
    with open_regular(file) as stream:
        while block := stream.read(BLOCK):
            ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
            wanted = np.arange(rows - lines % rows, len(ends) + 1, rows)
            edges += [position + int(ends[count - 1]) + 1 for count in wanted]
            lines, position = lines + len(ends), position + len(block)
    if edges[-1] != position or position == 0:
        edges.append(position)
    return edges, [rows * number for number in range(len(edges) - 1)]


def _row_groups(file: Path, rows: int) -> tuple[list[int | None], list[int]]:
    meta = open_parquet(file).metadata
    edges, firsts, count = [0], [0], 0
    for group in range(meta.num_row_groups):
        count += meta.row_group(group).num_rows
        if count - firsts[-1] >= rows or group == meta.num_row_groups - 1:
            edges.append(group + 1)
            firsts.append(count)
    return list(edges), firsts[:-1]


@dataclass(frozen=True)
class RowChunk:
    """Rows that are translated together: their columns, and for text files the unchanged lines.

    `records` are the objects of JSON lines, None where a line is none.
    """

    columns: Rows
    lines: Sequence[str] = ()
    records: Sequence[dict[str, Any] | None] = ()

    def texts(self, column: str) -> list[Any]:
        """The values of a column, None or why a row has none; InputError if a column of Parquet has no text."""
        if self.records:
            absent = NoText(f"no field {excerpt(column)}")
            return [
                NoText("not a JSON object") if record is None else record.get(column, absent) for record in self.records
            ]
        values = self.columns.get(column)
        if values is None:
            return [None] * len(next(iter(self.columns.values()), self.lines))
        if isinstance(values, list):
            return values
        texts = texts_of(values)
        if texts is None:
            raise InputError(f"the column '{column}' holds {values.type}, expected text: name one with --column")
        return texts


def read_part(part: Part) -> Iterator[RowChunk]:
    """The rows of a part, TOGETHER at a time."""
    if part.kind == "parquet":
        groups = list(range(part.start, part.end or 0))
        batches = read_batches(Path(part.file), TOGETHER, groups=groups)
        yield from (RowChunk(dict(zip(batch.schema.names, batch.columns, strict=True))) for batch in batches)
        return
    lines = islice(_lines(part), int(_begins_with_header(part)), None)
    while few := list(islice(lines, TOGETHER)):
        records = [parse_object(line) for line in few] if part.kind == "jsonl" else []
        yield RowChunk(_columns(part, few, records), few, records)


def _begins_with_header(part: Part) -> bool:
    return part.number == 0 and part.header != ""


def _lines(part: Part) -> Iterator[str]:
    with open_bytes(Path(part.file)) as stream:
        if part.start:
            stream.seek(part.start)
        source = stream if part.end is None else _Bounded(stream, part.end - part.start)
        yield from decode_lines(source, f"{part.file}, rows from {part.first + 1:,} on", "surrogateescape")


class _Bounded:
    """The first bytes of a stream, line by line."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream, self._left = stream, size

    def readline(self, size: int = -1, /) -> bytes:
        most = self._left if size < 0 else min(size, self._left)
        line: bytes = self._stream.readline(most) if most else b""
        self._left -= len(line)
        return line


def _columns(part: Part, lines: Sequence[str], records: Sequence[dict[str, Any] | None]) -> Rows:
    if part.kind == "text":
        return {"text": list(lines)}
    if part.kind == "tsv":
        cells = [line.split("\t") for line in lines]
        header = part.header.split("\t") if part.header else []
        header += [str(n + 1) for n in range(len(header), max(map(len, cells)))]
        return {name: [row[n] if n < len(row) else None for row in cells] for n, name in enumerate(header)}
    found = [record or {} for record in records]
    names = dict.fromkeys(name for record in found for name in record)
    return {name: [record.get(name) for record in found] for name in names}


def write_part(part: Part, translated: Iterator[tuple[RowChunk, Mapping[str, Any]]]) -> int:
    """Writes the translations and, beside them, the list of bad and of cut rows; returns how many rows there are.

    `translated` gives the rows as they were read, and what the worker returned.
    """
    rows, complaints = 0, list[str]()
    with ExitStack() as stack:
        file = stack.enter_context(whole_file(part.place, parents=True))
        if _begins_with_header(part):
            file.write(f"{part.header}\ttranslation\n".encode(errors="surrogateescape"))
        write = _parquet_writer(stack, part, file) if part.kind == "parquet" else partial(_write_lines, part, file)
        for chunk, added in translated:
            if part.kind != "tsv" and (taken := sorted(chunk.columns.keys() & {*WRITTEN})):
                raise InputError(
                    f"{part.file} already has a column '{taken[0]}', which would be overwritten: rename it"
                )
            write(chunk, added)
            values = chunk.lines or added["text"]
            for index, (error, cut) in enumerate(zip(added["error"], added["cut"], strict=True)):
                if error or cut:
                    reason = {"error": error} if error else {"warning": added["warning"][index]}
                    about = {"file": part.file, "row": part.first + rows + index + 1, **reason}
                    complaints.append(json.dumps({**about, "value": excerpt(values[index])}, ensure_ascii=False))
            rows += len(added["error"])
        if complaints:
            with whole_file(part.bad) as side:
                side.write("".join(f"{line}\n" for line in complaints).encode(errors="backslashreplace"))
    return rows


def count_listed(folder: Path) -> dict[str, int]:
    """How many rows all parts of an output folder list: `bad` ones without a translation, and `cut` ones."""
    counts = {"bad": 0, "cut": 0}
    for side in filter(Path.is_file, folder.rglob("part-*.bad.jsonl")):
        with open_regular(side) as lines:
            for line in lines:
                counts["cut" if "warning" in (parse_object(line) or {}) else "bad"] += 1
    return counts


def _write_lines(part: Part, file: Any, chunk: RowChunk, added: Mapping[str, Any]) -> None:
    lines = []
    for index, (line, translation) in enumerate(zip(chunk.lines, added["translation"], strict=True)):
        written = " ".join(translation.splitlines())
        if part.kind == "jsonl":
            more = {name: added[name][index] for name in WRITTEN}
            more |= {"score": _number(more["score"]), "cut": bool(more["cut"])}
            record = parse_object(line)
            begin = line if record is not None else json.dumps({"line": line}, ensure_ascii=False)
            # the fields stay as they were written: Python has no such numbers as 1.10 or 1e400
            comma = "" if record == {} else ", "
            written = begin.rstrip()[:-1] + comma + json.dumps(more, ensure_ascii=False)[1:]
        elif part.kind == "tsv":
            written = line + "\t" + written.replace("\t", " ")
        lines.append(written + "\n")
    # JSON escapes bytes that are not UTF-8, TSV keeps them as they were read
    file.write("".join(lines).encode(errors="backslashreplace" if part.kind == "jsonl" else "surrogateescape"))


def _number(score: float) -> float | None:
    return None if np.isnan(score) else float(score)


def _parquet_writer(stack: ExitStack, part: Part, file: Any) -> Callable[[RowChunk, Mapping[str, Any]], None]:
    import pyarrow
    from pyarrow import parquet

    schema = parquet.read_schema(part.file)
    kinds = {"score": pyarrow.float64(), "cut": pyarrow.bool_()}
    for name in WRITTEN:
        schema = schema.append(pyarrow.field(name, kinds.get(name, pyarrow.string())))
    table = stack.enter_context(parquet.ParquetWriter(file, schema))

    def write(chunk: RowChunk, added: Mapping[str, Any]) -> None:
        arrays = [*chunk.columns.values(), *(pyarrow.array(added[name], from_pandas=True) for name in WRITTEN)]
        for number, field in enumerate(schema):
            if arrays[number].type != field.type:  # a dictionary, as which `open_parquet` reads texts
                arrays[number] = arrays[number].dictionary_decode().cast(field.type)
        table.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))

    return write
