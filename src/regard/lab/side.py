"""One side of a corpus, looked at sentence by sentence: its words, its lengths, its script, what is damaged in it."""

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from regard.text.scripts import scripts
from regard.text.words import word_spans

WORDS = 2
"""A side of fewer words on average is a list of words: its lengths are counted in letters."""
SHORTLIST = 30_000
"""Words of a usual vocabulary of the kind word (Bahdanau et al. 2014)."""
_DAMAGED = re.compile(
    "�"
    "|Ã[\u0080-\u00bf]|Â[\u00a0-\u00bf]|â€|à[¤¥]|(?:[ÐÑ][^\x00-\x7fÐÑ]){2}"  # UTF-8 read as Latin-1 or Windows-1252
    "|&(?:amp|lt|gt|quot|apos|nbsp|#x?[0-9a-fA-F]+);"
    "|\\\\u[0-9a-fA-F]{4}"
)
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Chunk:
    """What is known of the characters between two spaces; most come again, so each is looked at once."""

    words: tuple[str, ...]
    scripts: tuple[tuple[str, int], ...]
    damaged: bool
    unseen: bool
    mixed: bool


@dataclass(frozen=True)
class Seen:
    """What is known of a sentence; of what is wrong in it, the first place."""

    words: int
    letters: int
    """Characters but for white space."""
    foreign: bool
    """Hardly a letter is of the side's script."""
    damaged: str = ""
    unseen: str = ""
    mixed: str = ""


class Side:
    """Grows with each sentence; the script is that of the first thousand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.script: str | None = None
        self.lengths, self.letters = array("i"), array("i")
        self._chunks: dict[str, Chunk] = {}
        self._counts: Counter[str] = Counter()

    def expect(self, texts: list[str]) -> None:
        """Learn from a sample which script the side is written in; none where two share it."""
        found = scripts(" ".join(texts))
        letters = sum(found.values())
        if letters and found.most_common(1)[0][1] > 0.7 * letters:
            self.script = found.most_common(1)[0][0]

    def look(self, text: str) -> Seen:
        """Take note of a sentence."""
        chunks = text.split()
        self._counts.update(chunks)
        facts = [self._chunks.get(chunk) or self._look(chunk) for chunk in chunks]
        words = sum(len(one.words) for one in facts)
        letters = sum(map(len, chunks))
        self.lengths.append(words)
        self.letters.append(letters)
        ours = others = 0
        for one in facts:
            for script, count in one.scripts:
                if script == self.script:
                    ours += count
                else:
                    others += count
        return Seen(
            words,
            letters,
            foreign=self.script is not None and others > max(3 * ours, 2),
            damaged=_first(chunk for chunk, one in zip(chunks, facts, strict=True) if one.damaged),
            unseen=_first(chunk for chunk, one in zip(chunks, facts, strict=True) if one.unseen),
            mixed=_first(chunk for chunk, one in zip(chunks, facts, strict=True) if one.mixed),
        )

    def _look(self, chunk: str) -> Chunk:
        words = tuple(chunk[start:end] for start, end in word_spans(chunk))
        found = Chunk(
            words,
            tuple(scripts(chunk).items()),
            damaged=_DAMAGED.search(chunk) is not None,
            unseen=_UNSEEN.search(chunk) is not None,
            mixed=any(_mixes(word) for word in words),
        )
        self._chunks[chunk] = found
        return found

    def words(self) -> Counter[str]:
        """Every word with its count."""
        counts: Counter[str] = Counter()
        for chunk, count in self._counts.items():
            for word in self._chunks[chunk].words:
                counts[word] += count
        return counts

    def measured(self, letters: bool) -> Float[np.ndarray, "pairs"]:
        """The length of every sentence, in letters or in words."""
        return np.frombuffer(self.letters if letters else self.lengths, np.int32).astype(float)

    def describe(self) -> str:
        """Lengths and vocabulary in one line."""
        lengths = np.frombuffer(self.lengths, np.int32)
        counts = self.words()
        once = sum(count == 1 for count in counts.values())
        written = f"{self.script} script; " if self.script else ""
        return (
            f"{self.name}: {written}{lengths.mean():.1f} words on average, median {int(np.median(lengths))}, "
            f"{int(np.quantile(lengths, 0.99))} at most in 99 %, longest {lengths.max():,}; "
            f"{len(counts):,} different word{'s' * (len(counts) != 1)}, {once:,} of them only once"
        )

    def shortlist(self) -> str | None:
        """How much of the text a usual word vocabulary covers; None where it covers all, and for a list of words."""
        counts = self.words()
        if len(counts) <= SHORTLIST or counts.total() < WORDS * len(self.lengths):
            return None
        covered = sum(count for _, count in counts.most_common(SHORTLIST)) / counts.total()
        return (
            f"{self.name}: the {SHORTLIST:,} most frequent words cover {covered:.1%} of the text; "
            f"{1 - covered:.1%} would be unknown"
        )


def _mixes(word: str) -> bool:
    """Latin beside its look-alikes in one word: somebody typed a Cyrillic а or a Greek ο."""
    found = scripts(word)
    return "Latin" in found and bool(found.keys() & {"Cyrillic", "Greek"})


def _first(places: Iterator[str]) -> str:
    return next(places, "")
