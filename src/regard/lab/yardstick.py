"""What to measure on: pairs from files, further references beside them, translations made elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.data.corpora import read_parallel, read_tsv
from regard.data.lines import read_lines
from regard.data.pair import Pair
from regard.lab.sides import GoldFile
from regard.text.errors import InputError
from regard.text.words import word_spans


@dataclass(frozen=True)
class Yardstick:
    """Pairs, further references of each, the lines of the file that were left out, and notes."""

    pairs: list[Pair]
    more: list[tuple[str, ...]]
    skipped: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Sequence[Pair], notes: Sequence[str] = ()) -> "Yardstick":
        return cls(list(pairs), [()] * len(pairs), (), tuple(notes))

    def grouped(self) -> "Yardstick":
        """Pairs with the same source become one with several references, in the order of their first."""
        pairs: dict[str, Pair] = {}
        more: dict[str, list[str]] = {}
        for pair, others in zip(self.pairs, self.more, strict=True):
            if pair.source in pairs:
                more[pair.source] += [pair.target, *others]
            else:
                pairs[pair.source], more[pair.source] = pair, list(others)
        return Yardstick(list(pairs.values()), [tuple(one) for one in more.values()], self.skipped, self.notes)

    def lines(self, path: Path, what: str) -> list[str]:
        """A file with a line for every line of the test set; those of pairs that were left out are left out too."""
        lines = list(read_lines(path))
        wanted = len(self.pairs) + len(self.skipped)
        if len(lines) != wanted:
            raise InputError(f"{path} has {len(lines):,} lines, the test set {wanted:,}: {what} go line by line")
        left_out = {number - 1 for number in self.skipped}
        return [line for number, line in enumerate(lines) if number not in left_out]

    def with_references(self, paths: Sequence[Path]) -> "Yardstick":
        """The set with a further reference from each file; a blank line there is none."""
        files = [self.lines(path, "references") for path in paths]
        more = [
            (*others, *(file[number] for file in files if file[number].strip()))
            for number, others in enumerate(self.more)
        ]
        return Yardstick(self.pairs, more, self.skipped, self.notes)


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
    return Yardstick(pairs, [()] * len(pairs), tuple(skipped), tuple(notes))


def _linked(pairs: list[Pair], skipped: set[int], file: GoldFile) -> tuple[list[Pair], tuple[str, ...]]:
    """Each pair with its gold; lines that were left out have no words, so none of their links can fit."""
    # Whatever the words are split by, there are at most so many.
    kept = iter([(len(word_spans(pair.source)), len(word_spans(pair.target))) for pair in pairs])
    lines = range(1, len(pairs) + len(skipped) + 1)
    gold, notes = file.read([(0, 0) if line in skipped else next(kept) for line in lines])
    known = [links for line, links in zip(lines, gold, strict=True) if line not in skipped]
    return [replace(pair, links=links) for pair, links in zip(pairs, known, strict=True)], notes
