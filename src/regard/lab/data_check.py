"""A corpus looked at by somebody who has seen many: sizes, and what is usually wrong with pairs of lines."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Literal

from regard.data.corpora import read_tsv
from regard.data.lines import read_lines
from regard.data.pair import Pair
from regard.text.words import word_spans

Mark = Literal["✓", "·", "!", "✗"]
LONG = 100
"""Words from which on a sentence makes training slow and alignments hard to see."""
_BROKEN = re.compile("�|Ã[\u0080-\u00bf]|â€|&(amp|lt|gt|quot|apos|#\\d+);")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report: fine ✓, good to know ·, odd !, or wrong ✗."""

    mark: Mark
    text: str

    @property
    def bad(self) -> bool:
        return self.mark == "✗"


def check_file(path: Path) -> list[Finding]:
    """A TSV file of pairs, or one side of a parallel corpus."""
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return [Finding("✗", f"{path} is empty: wanted lines of source TAB target")]
    if "\t" not in first:
        return _check_side(path)
    skipped: list[int] = []
    pairs = list(read_tsv(path, (1, 2) if first.count("\t") > 1 else None, skipped))
    left_out = set(skipped)
    numbers = list(islice((number for number in count(1) if number not in left_out), len(pairs)))
    findings = check_pairs(pairs, numbers)
    if first.count("\t") > 1:
        columns = first.count("\t") + 1
        findings.append(Finding("·", f"{columns} columns: the first two were read; in a recipe say columns = [1, 2]"))
    if skipped:
        findings.append(
            Finding("!", f"lines left out because a side is blank: {len(skipped):,}, first line {skipped[0]}")
        )
    return findings


def check_pairs(pairs: Sequence[Pair], numbers: Sequence[int] | None = None) -> list[Finding]:
    """Sizes and oddities of a corpus; `numbers` are the lines that its pairs stand on."""
    return check_sizes(pairs) + _oddities(pairs, numbers)


def check_sizes(pairs: Sequence[Pair]) -> list[Finding]:
    """How many pairs, how long, of how many words."""
    return [
        Finding("✓", f"{len(pairs):,} pairs"),
        Finding("✓", f"source: {_sizes([pair.source for pair in pairs])}"),
        Finding("✓", f"target: {_sizes([pair.target for pair in pairs])}"),
    ]


def check_overlap(train: Sequence[Pair], held_out: Sequence[Pair], name: str) -> list[Finding]:
    """Sentences that a score would flatter: they were trained on."""
    known = {pair.source for pair in train}
    both = sum(pair.source in known for pair in held_out)
    if not both:
        return [Finding("✓", f"{name}: {len(held_out):,} pairs, none of their sources in training")]
    return [Finding("!", f"{name}: {both:,} of {len(held_out):,} sources are in training too: scores will flatter")]


def _check_side(path: Path) -> list[Finding]:
    lines = list(read_lines(path))
    blank = [number for number, line in enumerate(lines, 1) if not line.strip()]
    findings = [
        Finding("✓", f"{len(lines):,} lines without a tab: one side of a parallel corpus?"),
        Finding("✓", _sizes(lines)),
    ]
    if blank:
        findings.append(Finding("!", f"blank lines, whose pairs are left out: {len(blank):,}, first line {blank[0]}"))
    return findings


def _sizes(texts: Sequence[str]) -> str:
    counts: Counter[str] = Counter()
    lengths = []
    for text in texts:
        words = [text[start:end] for start, end in word_spans(text)]
        counts.update(words)
        lengths.append(len(words))
    once = sum(number == 1 for number in counts.values())
    return (
        f"{statistics.mean(lengths):.1f} words on average, at most {max(lengths):,}; "
        f"{len(counts):,} different words, {once:,} of them only once"
    )


def _oddities(pairs: Sequence[Pair], numbers: Sequence[int] | None) -> list[Finding]:
    seen: dict[str, set[str]] = {}
    repeated, several = [], []
    for place, pair in enumerate(pairs):
        targets = seen.setdefault(pair.source, set())
        if pair.target in targets:
            repeated.append(place)
        elif targets:
            several.append(place)
        targets.add(pair.target)

    def where(odd: Callable[[Pair], bool]) -> list[int]:
        return [place for place, pair in enumerate(pairs) if odd(pair)]

    said = [
        (repeated, "pairs that were there before (remove them, or they count twice)"),
        (several, "sources with another target than before (no model can get all of them right)"),
        (where(lambda pair: pair.source == pair.target), "targets equal to their source (untranslated?)"),
        (where(_lopsided), "lengths that differ by more than three to one (misaligned?)"),
        (where(_long), f"sides of more than {LONG} words (longest_source in [text] leaves them out)"),
        (where(_broken), "broken characters or HTML entities (decoded wrongly before?)"),
    ]
    return [
        Finding("!", f"{what}: {len(odd):,}, first {_example(pairs, odd[0], numbers)}") for odd, what in said if odd
    ]


def _example(pairs: Sequence[Pair], place: int, numbers: Sequence[int] | None) -> str:
    pair = pairs[place]
    source, target = (text if len(text) <= 40 else text[:39] + "…" for text in (pair.source, pair.target))
    line = "" if numbers is None else f"line {numbers[place]}, "
    return f"{line}{source!r} → {target!r}"


def _lopsided(pair: Pair) -> bool:
    shorter, longer = sorted((len(word_spans(pair.source)), len(word_spans(pair.target))))
    return longer > 3 * shorter + 5


def _long(pair: Pair) -> bool:
    return max(len(word_spans(pair.source)), len(word_spans(pair.target))) > LONG


def _broken(pair: Pair) -> bool:
    return bool(_BROKEN.search(pair.source) or _BROKEN.search(pair.target))
