"""Parallel text line by line, blank lines kept, and the gold links of its pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.alignment import Links, check_links, parse_naacl, parse_pharaoh, seem_one_based
from regard.data.lines import find_file, read_lines
from regard.data.pair import Pair
from regard.text.input_error import InputError


@dataclass(frozen=True)
class ParallelText:
    """Sources and their targets, line by line."""

    sources: list[str]
    targets: list[str]

    def __len__(self) -> int:
        return len(self.sources)

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> "ParallelText":
        return cls([pair.source for pair in pairs], [pair.target for pair in pairs])

    def flipped(self) -> "ParallelText":
        return ParallelText(self.targets, self.sources)

    def first(self, count: int) -> "ParallelText":
        return ParallelText(self.sources[:count], self.targets[:count])


def check_one_input(data: Path | None, source: Path | None, target: Path | None, split: str | None) -> None:
    """Raise if DATA is given together with --source or --target, or one of them with --split."""
    if data is not None and (source is not None or target is not None):
        option = "--target" if source is None else "--source"
        raise InputError(f"{data} and {option} were both given: leave one of them out")
    given = data or source
    if given is not None and split is not None:
        raise InputError(f"{given} and --split were both given: leave one of them out")


def read_parallel_text(source: Path, target: Path | None = None) -> ParallelText:
    """Two parallel files, or one file of source TAB target."""
    first = list(read_lines(source))
    if not first:
        raise InputError(f"{find_file(source)} is empty: nothing to align")
    if target is not None:
        second = list(read_lines(target))
        if len(first) != len(second):
            raise InputError(
                f"unequal line counts: {source} has {len(first):,}, {target} has {len(second):,}; "
                "line i of one must translate line i of the other"
            )
        return ParallelText(first, second)
    rows = [line.split("\t") if line.strip() else ["", ""] for line in first]
    for number, fields in enumerate(rows, 1):
        if len(fields) != 2:
            given = "no tab;" if len(fields) == 1 else f"{len(fields)} columns,"
            raise InputError(f"{source}, line {number}: {given} expected source TAB target")
    return ParallelText([fields[0] for fields in rows], [fields[1] for fields in rows])


def gold_links(pairs: Sequence[Pair]) -> list[Links] | None:
    """The gold links, if every pair has them."""
    links = [pair.links for pair in pairs if pair.links is not None]
    return links if links and len(links) == len(pairs) else None


@dataclass(frozen=True)
class GoldFile:
    """A file of gold links in Pharaoh or NAACL format, which is detected."""

    path: Path
    base: int | None = None
    """The index of the first word; if None, 0 in Pharaoh files and 1 in NAACL files."""
    flip: bool = False
    """Whether the links are written target first."""

    def read(self, lengths: Sequence[tuple[int, int]]) -> tuple[list[Links], list[str]]:
        """The links of every pair, checked against its numbers of words, and warnings."""
        path = find_file(self.path)
        lines = list(read_lines(path))
        naacl = is_naacl(lines)
        base = self.base if self.base is not None else int(naacl)
        try:
            if naacl:
                links = parse_naacl(lines, base=base, sentences=len(lengths), where=str(path))
            else:
                links = [
                    parse_pharaoh(line, base=base, where=f"{path}, line {number}")
                    for number, line in enumerate(lines, 1)
                ]
            if self.flip:
                links = [each.flipped() for each in links]
            check_links(links, lengths, where=str(path), base=base)
        except ValueError as error:
            given = f"gold_base = {base} and flip_gold = {str(self.flip).lower()}"
            raise InputError(f"{error} (read with {given}; links of tokenised text need --words spaces)") from None
        notes = []
        if base == 0 and seem_one_based(links):
            notes.append(f"{path}: no link touches a first word on either side: if it counts from 1, set gold_base = 1")
        if not any(each.possible for each in links):
            notes.append(f"{path} holds no link: there is nothing to score against")
        return links, notes


def is_naacl(lines: Sequence[str]) -> bool:
    """Whether lines hold separate numbers (`1 3 4 S`) rather than joined ones (`2-3 4?5`)."""
    first = next((line.split() for line in lines if line.strip()), [])
    return len(first) >= 3 and all(field.isdigit() for field in first[:3])


def visible_links(links: Links, sources: int, targets: int) -> Links:
    """The links between the first `sources` and `targets` words: normalisation may drop a final full stop."""
    sure, possible = ([(s, t) for s, t in some if s < sources and t < targets] for some in (links.sure, links.possible))
    return Links.of(sure, possible)
