"""Two sides of text line by line, blank lines kept: line i of the links belongs to line i of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.alignment import Links, check_links, parse_naacl, parse_pharaoh, seem_one_based
from regard.data.lines import find_file, read_lines
from regard.data.pair import Pair
from regard.text.errors import InputError


@dataclass(frozen=True)
class Sides:
    """Sources and targets, equally many."""

    sources: list[str]
    targets: list[str]

    def __len__(self) -> int:
        return len(self.sources)

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> "Sides":
        return cls([pair.source for pair in pairs], [pair.target for pair in pairs])


def read_sides(source: Path, target: Path | None = None) -> Sides:
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
        return Sides(first, second)
    sources, targets = [], []
    for number, line in enumerate(first, 1):
        fields = line.split("\t") if line.strip() else ["", ""]
        if len(fields) != 2:
            given = "no tab;" if len(fields) == 1 else f"{len(fields)} columns,"
            raise InputError(f"{source}, line {number}: {given} wanted source TAB target")
        sources.append(fields[0])
        targets.append(fields[1])
    return Sides(sources, targets)


@dataclass(frozen=True)
class GoldFile:
    """A file of gold links in Pharaoh or NAACL format, which is found out, and how its words are counted."""

    path: Path
    base: int | None = None
    """What the first word is counted as: 0 in Pharaoh files and 1 in NAACL files if left out."""
    flip: bool = False
    """Whether the links are written target first."""

    def __post_init__(self) -> None:
        if self.base not in (None, 0, 1):
            raise InputError(f"--gold-base {self.base}: the first word counts as 0 or as 1")

    def read(self, lengths: Sequence[tuple[int, int]]) -> tuple[list[Links], tuple[str, ...]]:
        """The links of every pair, checked against their words, and what a person should hear about them."""
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
            raise InputError(_with_options(str(error), self.flip)) from None
        notes = []
        if base == 0 and seem_one_based(links):
            notes.append(f"{path}: no link touches a first word on either side: if it counts from 1, say --gold-base 1")
        if not any(each.possible for each in links):
            notes.append(f"{path} holds no link: there is nothing to score against")
        return links, tuple(notes)


def is_naacl(lines: Sequence[str]) -> bool:
    """Whether lines are of numbers apart (`1 3 4 S`) rather than of joined ones (`2-3 4?5`)."""
    first = next((line.split() for line in lines if line.strip()), [])
    return len(first) >= 3 and all(field.isdigit() for field in first[:3])


def _with_options(message: str, flipped: bool) -> str:
    """The remedy as the command's options."""
    turn = "leave --flip-gold out" if flipped else "say --flip-gold"
    said = {
        "so read them with index base 1": "so say --gold-base 1",
        "so flip them": f"so {turn}",
        "and flip them": f"and {turn}",
        "these links seem to count from 0": "these links seem to count from 0: say --gold-base 0",
        "are these links 0-based?": "if they count from 0, say --gold-base 0",
    }
    for plain, option in said.items():
        message = message.replace(plain, option)
    if "lies outside" in message and "--" not in message:
        message += "; links count words as the model splits them, with --words spaces what white space separates"
    return message
