"""What to measure on: pairs from files, further references beside them, translations made elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.data.corpora import read_parallel, read_tsv
from regard.data.lines import read_lines
from regard.data.pair import Pair
from regard.lab.parallel import GoldFile
from regard.text.errors import InputError
from regard.text.words import word_spans


@dataclass(frozen=True)
class Yardstick:
    """Pairs, further references of each, and notes; `numbers` are the lines (from 0) of the file that they stand in.

    Lines with a blank side have no pair, and of lines with the same source, once grouped, the first has one.
    """

    pairs: list[Pair]
    more: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    total: int = 0
    """Lines of the file."""
    is_grouped: bool = False

    @classmethod
    def of(cls, pairs: Sequence[Pair], notes: Sequence[str] = ()) -> "Yardstick":
        """Pairs that fill their file."""
        return cls(list(pairs), [()] * len(pairs), tuple(notes), tuple(range(len(pairs))), len(pairs))

    def grouped(self) -> "Yardstick":
        """Pairs with the same source become one with several references, in the order of their first."""
        found: dict[str, tuple[Pair, list[str], int]] = {}
        for pair, others, number in zip(self.pairs, self.more, self.numbers, strict=True):
            if pair.source in found:
                found[pair.source][1].extend((pair.target, *others))
            else:
                found[pair.source] = pair, list(others), number
        pairs, more, numbers = zip(*found.values(), strict=True) if found else ((), (), ())
        return replace(self, pairs=list(pairs), more=[tuple(one) for one in more], numbers=numbers, is_grouped=True)

    def lines(self, path: Path, what: str) -> list[str]:
        """A file with a line for every line of the test set, or once grouped for every different source of it."""
        lines = list(read_lines(path))
        if len(lines) == self.total:
            return [lines[number] for number in self.numbers]
        if self.is_grouped and len(lines) == len(self.pairs):
            return lines
        wanted = f"{self.total:,}{f' and {len(self.pairs):,} different sources' if self.is_grouped else ''}"
        raise InputError(f"{path} has {len(lines):,} lines, the test set {wanted}: {what} go line by line")

    def with_references(self, paths: Sequence[Path]) -> "Yardstick":
        """The set with a further reference from each file; a blank line there is none."""
        files = [self.lines(path, "references") for path in paths]
        more = [
            (*others, *(file[number] for file in files if file[number].strip()))
            for number, others in enumerate(self.more)
        ]
        return replace(self, more=more)


def read_yardstick(source: Path, target: Path | None = None, links: GoldFile | None = None) -> Yardstick:
    """Pairs from a TSV file, or from two parallel files and the gold links beside them."""
    skipped: list[int] = []
    pairs = list(read_tsv(source, None, skipped) if target is None else read_parallel(source, target, None, skipped))
    notes: list[str] = []
    if skipped:
        lines = "1 line was" if len(skipped) == 1 else f"{len(skipped):,} lines were"
        notes.append(f"{source}: {lines} left out, a side is blank (first: line {skipped[0]})")
    if links is not None:
        pairs, more = _linked(pairs, set(skipped), links)
        notes += more
    total, left_out = len(pairs) + len(skipped), {number - 1 for number in skipped}
    numbers = tuple(number for number in range(total) if number not in left_out)
    return Yardstick(pairs, [()] * len(pairs), tuple(notes), numbers, total)


def _linked(pairs: list[Pair], skipped: set[int], file: GoldFile) -> tuple[list[Pair], list[str]]:
    """Each pair with its gold; lines that were left out have no words, so none of their links can fit."""
    # Whatever the words are split by, there are at most so many.
    kept = iter([(len(word_spans(pair.source)), len(word_spans(pair.target))) for pair in pairs])
    lines = range(1, len(pairs) + len(skipped) + 1)
    gold, notes = file.read([(0, 0) if line in skipped else next(kept) for line in lines])
    known = [links for line, links in zip(lines, gold, strict=True) if line not in skipped]
    return [replace(pair, links=links) for pair, links in zip(pairs, known, strict=True)], notes
