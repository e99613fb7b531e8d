"""Examines a corpus: sizes, usual problems of pairs with examples and remedies, and shifted lines.

Shifted lines of a parallel corpus are detected by the correlation of sentence lengths.
"""

import hashlib
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, islice, pairwise
from typing import Final

import numpy as np
from jaxtyping import Float

from regard.data.pair import Pair
from regard.lab.finding import Finding
from regard.lab.side import WORDS, CheckedSentence, SideStatistics
from regard.text.near_duplicates import bare
from regard.text.words import word_spans

EXAMPLES = 3
SAMPLE = 1000
LONG = 100
"""Sentences of more words make training slow and heat-maps hard to read."""
RARE = 0.001
"""Share of the pairs below which a problem is only a note."""

LEAST = 50
"""Smallest number of pairs for a correlation of lengths."""
STRETCH = 200
"""Smallest number of pairs in a segment; a corpus is cut into at most twenty."""
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_SHIFTED = "the files are shifted against each other: find the line that one of them lacks"
Lengths = Float[np.ndarray, "pairs"]
ODDITIES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    files("regard.lab").joinpath("problems.toml").read_text(encoding="utf-8")
)
"""By name: what the problem is, and its remedy."""


class Survey:
    """Statistics and problems of a split; each pair comes with its place, e.g. `line 7`."""

    def __init__(self, located: Iterable[tuple[str, Pair]], advance: Callable[[int], None] | None = None) -> None:
        self.source, self.target = SideStatistics("source"), SideStatistics("target")
        self.sources: set[int] = set()
        """Keys of the source texts, letters and digits alone."""
        self._examples: dict[str, list[str]] = {name: [] for name in ODDITIES}
        self._counts: Counter[str] = Counter()
        self._pairs: set[int] = set()
        self._exact: set[int] = set()
        stream = iter(located)
        sample = list(islice(stream, SAMPLE))
        self.source.expect([pair.source for _, pair in sample])
        self.target.expect([pair.target for _, pair in sample])
        sides = [pair.source for _, pair in sample], [pair.target for _, pair in sample]
        words = [sum(len(word_spans(text)) for text in texts) for texts in sides]
        self.spelled = min(words) < WORDS * len(sample)
        """Whether a side is a list of words, as in a pronouncing dictionary; then letters are counted, not words."""
        left, right = [sum(map(len, "".join(texts).split())) for texts in sides] if self.spelled else words
        self._longer = min(max(right / max(left, 1), 0.25), 4.0)
        """How much longer targets usually are."""
        for number, (place, pair) in enumerate(chain(sample, stream), 1):
            self._look(pair, place)
            if advance is not None and number % SAMPLE == 0:
                advance(number)

    def __len__(self) -> int:
        return len(self.source.lengths)

    def _look(self, pair: Pair, place: str) -> None:
        source, target = self.source.look(pair.source), self.target.look(pair.target)
        for name in self._problems(pair, source, target):
            self._counts[name] += 1
            if self._counts[name] <= EXAMPLES:
                spot = source.problems.get(name) or target.problems.get(name)
                self._examples[name].append(example(pair, place) + (f"  ({spot[:20]!r})" if spot else ""))

    def _problems(self, pair: Pair, source: CheckedSentence, target: CheckedSentence) -> Iterator[str]:
        text, both = key(pair.source), key(f"{pair.source}\t{pair.target}")
        if both in self._pairs:
            yield "repeated"
        elif text in self._exact:
            yield "several"
        self._pairs.add(both)
        self._exact.add(text)
        self.sources.add(key(bare(pair.source)))
        if any(not _visible(text) for text in (pair.source, pair.target)):
            yield "empty"
        if pair.source.strip().casefold() == pair.target.strip().casefold():
            yield "copied"
        left, right = (one.letters if self.spelled else one.words for one in (source, target))
        shorter, longer = sorted((left * self._longer, right))
        if longer > 3 * shorter + 5:
            yield "lopsided"
        if max(source.words, target.words) > LONG:
            yield "long"
        yield from source.problems | target.problems

    def sizes(self) -> list[Finding]:
        """The number of pairs, their lengths and vocabularies."""
        found = [Finding("✓", "1 pair" if len(self) == 1 else f"{len(self):,} pairs")]
        found += [Finding("✓", side.describe()) for side in (self.source, self.target)]
        short = [side.shortlist() for side in (self.source, self.target)]
        remedy = 'kind = "bpe" or "unigram" in [text] spells rare words'
        return found + [Finding("·", summary, remedy=remedy) for summary in short if summary is not None]

    def findings(self) -> list[Finding]:
        """The sizes and the problems."""
        together = check_lengths(self.source.measured(self.spelled), self.target.measured(self.spelled))
        return [*self.sizes(), *together, *(self._oddity(name) for name, some in self._examples.items() if some)]

    def _oddity(self, name: str) -> Finding:
        what, remedy = ODDITIES[name]["what"].format(LONG=LONG), ODDITIES[name]["remedy"]
        count, share = self._counts[name], self._counts[name] / len(self)
        mild = name in ("several", "unseen") or (share < RARE and len(self) > 1 / RARE)
        counted = f"{what}: {count:,} ({share:.1%})" if share >= RARE else f"{what}: {count:,}"
        return Finding("·" if mild else "!", counted, tuple(self._examples[name]), remedy)


def _visible(text: str) -> bool:
    """Whether a character is visible; zero-width ones have the categories Cf and Cc."""
    return any(unicodedata.category(one)[0] not in "CZ" for one in text)


def check_overlap(train: Survey, held_out: Iterable[Pair], name: str) -> list[Finding]:
    """Held-out sentences that occur in training, which would raise scores, and words that do not occur there."""
    pairs = list(held_out)
    same = [pair for pair in pairs if key(bare(pair.source)) in train.sources]
    side, words = SideStatistics("source"), train.source.words()
    for pair in pairs:
        side.look(pair.source)
    counts = side.words()
    unknown = sum(count for word, count in counts.items() if word not in words) / max(1, counts.total())
    if words.total() < WORDS * len(train):
        unknown = 0  # a dictionary is tested with new words
    found = [Finding("·", f"{name}: {unknown:.1%} of its source words never occur in training")] if unknown else []
    if not same:
        summary = "1 pair, its source not" if len(pairs) == 1 else f"{len(pairs):,} pairs, none of their sources"
        return [Finding("✓", f"{name}: {summary} in training"), *found]
    return [
        Finding(
            "!",
            f"{name}: {len(same):,} of {len(pairs):,} sources are in training too, but for case and punctuation",
            tuple(example(pair) for pair in same[:EXAMPLES]),
            "remove them from training, or scores will be too high",
        ),
        *found,
    ]


def example(pair: Pair, place: str = "") -> str:
    source, target = (text if len(text) <= 50 else text[:49] + "…" for text in (pair.source, pair.target))
    return f"{place}{': ' if place else ''}{source!r} → {target!r}"


def key(text: str) -> int:
    """A 64-bit hash of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


@dataclass(frozen=True)
class _Shift:
    """The lines by which targets lie below their sources, and the correlation of lengths with that shift."""

    by: int
    correlation: float

    def describe(self) -> str:
        lines = "line" if abs(self.by) == 1 else "lines"
        return f"with the target {abs(self.by)} {lines} {'below' if self.by > 0 else 'above'} ({self.correlation:.2f})"


def check_lengths(source: Lengths, target: Lengths) -> list[Finding]:
    """Findings about the whole corpus, and about segments of it that are shifted."""
    if len(source) < LEAST or not source.std() or not target.std():
        return []
    here = _correlation(source, target)
    if here <= 0.3:
        problem, best = f"the lengths of the two sides hardly correlate ({here:.2f})", _best(source, target)
        if best.correlation > max(0.3, here + 0.2):
            return [Finding("!", f"{problem}, but they do {best.describe()}", remedy=_SHIFTED)]
        remedy = "do the lines translate each other? Look at a few in the middle of the file"
        return [Finding("!", problem, remedy=remedy)]
    parts = list(_shifted_parts(source, target))
    if not parts:
        return [Finding("✓", f"long sources have long targets (correlation of lengths {here:.2f})")]
    first, last, shift = parts[0][0], parts[-1][1], parts[0][2]
    problem = (
        f"from about pair {first + 1:,} to {last:,} lengths do not correlate line by line, but do {shift.describe()}"
    )
    return [Finding("!", problem, remedy=_SHIFTED)]


def _shifted_parts(source: Lengths, target: Lengths) -> Iterator[tuple[int, int, _Shift]]:
    """The segments (first, end) whose lengths correlate only with a shift."""
    count = min(20, len(source) // STRETCH)
    ends = np.linspace(0, len(source), count + 1).astype(int).tolist() if count > 1 else []
    for first, last in pairwise(ends):
        one, other = source[first:last], target[first:last]
        best = _best(one, other)
        if best.correlation > max(0.4, _correlation(one, other) + 0.3):
            yield first, last, best


def _best(source: Lengths, target: Lengths) -> _Shift:
    return max((_Shift(by, _correlation(source, target, by)) for by in _SHIFTS), key=lambda one: one.correlation)


def _correlation(source: Lengths, target: Lengths, by: int = 0) -> float:
    if by:
        source, target = (source[:-by], target[by:]) if by > 0 else (source[-by:], target[:by])
    return float(np.corrcoef(source, target)[0, 1]) if source.std() and target.std() else 0.0
