"""Finds tables that are not plain source TAB target: CSV, header rows, quoted fields, text in other columns."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.lines import find_file, read_lines
from regard.lab.finding import Finding

SAMPLE = 1000
"""Lines that are examined."""
MOST_LINES = 0.95
"""The share of lines that must agree."""
_NAMES = {
    *("source", "target", "src", "tgt", "trg", "text", "translation", "sentence", "input", "output", "reference"),
    *("word", "phones", "pronunciation", "id", "score", "lang"),
    *("english", "french", "german", "spanish", "italian", "hindi", "en", "fr", "de", "es", "it", "pt", "nl", "hi"),
}
"""Common names of columns."""
_UNQUOTE = "python3 -c \"import csv, sys; [print({}, sep='\\t') for row in csv.reader(sys.stdin{})]\" < {} > plain.tsv"


@dataclass(frozen=True)
class TableFindings:
    """Findings about a table, and the two columns, counted from 1, that hold text; None if it has only two."""

    findings: tuple[Finding, ...] = ()
    columns: tuple[int, int] | None = None

    @property
    def readable(self) -> bool:
        """Whether its lines can be read as source TAB target."""
        return not any(finding.bad for finding in self.findings)


def check_table(path: Path) -> TableFindings:
    """Examine the first lines of a file that should hold pairs."""
    path = find_file(path)
    lines = [line for line in islice(read_lines(path), SAMPLE) if line.strip()]
    if delimiter := _csv_delimiter(path, lines):
        what = f"{path.name} is CSV, fields separated by '{delimiter}': expected source TAB target without quotes"
        return TableFindings((Finding("✗", what, (_shown(lines[0]),), _csv_remedy(path, lines, delimiter)),))
    rows = [line.split("\t") for line in lines]
    if not rows or len(rows[0]) < 2:
        return TableFindings()
    findings, columns = [], None
    if _is_header(rows[0]):
        remedy = f"in a recipe, set header = true; or remove it: tail -n +2 {path.name} > without-header.tsv"
        what = "the first line looks like a header, and would be trained as a pair"
        findings.append(Finding("!", what, (_shown(lines[0]),), remedy))
        rows = rows[1:]
    quoted = [row for row in rows if any(_is_quoted(field) for field in row)]
    if rows and len(quoted) >= len(rows) / 2:
        what = f"quoted fields, whose quotes are read as part of the text: {len(quoted):,} of {len(rows):,} lines"
        remedy = "remove the quotes: " + _UNQUOTE.format("*row[:2]", ", delimiter='\\t'", path.name)
        findings.append(Finding("!", what, (_shown("\t".join(quoted[0])),), remedy))
    if rows:
        wrong, columns = _check_columns(rows)
        findings += wrong
    return TableFindings(tuple(findings), columns)


def _csv_delimiter(path: Path, lines: Sequence[str]) -> str | None:
    """The delimiter of lines that have no tab and, read as CSV, the same number of fields."""
    tabs = sum("\t" in line for line in lines)
    if not lines or tabs > (1 - MOST_LINES) * len(lines):
        return None
    quoted = sum(line.startswith('"') for line in lines) >= max(2, len(lines) / 2)
    for delimiter in (",", ";"):
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:  # a carriage return inside a line, or a field that is too long for CSV
            continue
        usual = max(set(counts), key=counts.count)
        meant = ".csv" in path.suffixes or quoted or _is_header(lines[0].split(delimiter))  # prose has commas, too
        if meant and usual >= 2 and counts.count(usual) >= MOST_LINES * len(counts):
            return delimiter
    return None


def _csv_remedy(path: Path, lines: Sequence[str], delimiter: str) -> str:
    """The recipe keys that read the file, and a command that converts it."""
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if len(row) >= 2]
    headed = _is_header(rows[0])
    _, columns = _check_columns(rows[1:] if headed and len(rows) > 1 else rows)
    keys, fields, option = 'kind = "csv"', "*row[:2]", ""
    if delimiter != ",":
        keys, option = f'{keys}, delimiter = "{delimiter}"', f", delimiter='{delimiter}'"
    if not headed:
        keys += ", header = false"
    if columns is not None:
        keys += f", columns = [{columns[0]}, {columns[1]}]"
        fields = f"row[{columns[0] - 1}], row[{columns[1] - 1}]"
    return f"in a recipe, set {keys}; or convert it: {_UNQUOTE.format(fields, option, path.name)}"


def _is_header(fields: Sequence[str]) -> bool:
    """Whether every field of the first line is a common column name."""
    return all(field.strip().strip('"').lower() in _NAMES for field in fields)


def _is_quoted(field: str) -> bool:
    field = field.strip()
    return len(field) > 2 and field[0] == field[-1] == '"'


def _check_columns(rows: Sequence[Sequence[str]]) -> tuple[list[Finding], tuple[int, int] | None]:
    """The first two columns that hold text, where lines have more than two or one of two holds none."""
    width = min(map(len, rows))
    text = [place + 1 for place in range(width) if _holds_text([row[place] for row in rows])]
    if width == 2:
        if len(text) != 1:
            return [], None
        what = f"column {3 - text[0]} holds numbers or one repeated value, column {text[0]} text"
        remedy = "give source TAB target: was another column cut off, or is this an id or a score?"
        return [Finding("!", what, (_shown("\t".join(rows[0])),), remedy)], None
    if width < 2:
        return [], None  # the reader names the line
    columns = (text[0], text[1]) if len(text) >= 2 else (1, 2)
    what = f"{width} columns: {columns[0]} and {columns[1]} were read"
    if columns != (1, 2):
        what += ", the first two that hold text"
    example = () if columns == (1, 2) else (_shown("\t".join(rows[0])),)
    remedy = f"in a recipe, set columns = [{columns[0]}, {columns[1]}]"
    return [Finding("·" if columns == (1, 2) else "!", what, example, remedy)], columns


def _holds_text(fields: Sequence[str]) -> bool:
    """Whether most fields have a letter and their values differ."""
    lettered = sum(any(character.isalpha() for character in field) for field in fields)
    return lettered >= 0.8 * len(fields) and (len(set(fields)) > 1 or len(fields) < 3)


def _shown(line: str) -> str:
    return repr(line if len(line) <= 80 else line[:79] + "…")
