"""Statistics of one side of a corpus: words, lengths, script, damaged text."""

import re
from array import array
from collections import Counter
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from regard.text.scripts import scripts
from regard.text.words import word_spans

WORDS = 2
"""A side of fewer words on average is a list of words: its lengths are counted in letters."""
SHORTLIST = 30_000
"""Size of a usual word vocabulary (Bahdanau et al. 2014)."""
_DAMAGED = re.compile(
    "�"
    "|Ã[\u0080-\u00bf]|Â[\u00a0-\u00bf]|â€|à[¤¥]|(?:[ÐÑ][^\x00-\x7fÐÑ]){2}"  # UTF-8 read as Latin-1 or Windows-1252
    "|&(?:amp|lt|gt|quot|apos|nbsp|#x?[0-9a-fA-F]+);"
    "|\\\\u[0-9a-fA-F]{4}"
)
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class TextChunk:
    """The characters between two spaces; most occur again, so each is examined once."""

    words: tuple[str, ...]
    scripts: Counter[str]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class CheckedSentence:
    """The lengths of a sentence and its problems, each with the text where it first occurs."""

    words: int
    letters: int
    """Characters without white space."""
    problems: dict[str, str]


class SideStatistics:
    """Statistics of one side, which grow with each sentence; the script is that of the first thousand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.script: str | None = None
        self.lengths, self.letters = array("i"), array("i")
        self._chunks: dict[str, TextChunk] = {}
        self._counts: Counter[str] = Counter()

    def expect(self, texts: list[str]) -> None:
        """Set the script from a sample; none if no script has more than 70 % of the letters."""
        found = scripts(" ".join(texts))
        letters = sum(found.values())
        if letters and found.most_common(1)[0][1] > 0.7 * letters:
            self.script = found.most_common(1)[0][0]

    def look(self, text: str) -> CheckedSentence:
        """Count a sentence and find its problems."""
        chunks = text.split()
        self._counts.update(chunks)
        words = letters = ours = others = 0
        problems: dict[str, str] = {}
        for part in chunks:
            chunk = self._chunks.get(part) or self._examine(part)
            words, letters = words + len(chunk.words), letters + len(part)
            ours += chunk.scripts[self.script or ""]
            others += sum(chunk.scripts.values()) - chunk.scripts[self.script or ""]
            for problem in chunk.problems:
                problems.setdefault(problem, part)
        if self.script is not None and others > max(3 * ours, 2):
            problems[f"foreign {self.name}"] = ""
        self.lengths.append(words)
        self.letters.append(letters)
        return CheckedSentence(words, letters, problems)

    def _examine(self, text: str) -> TextChunk:
        words = tuple(text[start:end] for start, end in word_spans(text))
        problems = {
            "damaged": _DAMAGED.search(text),
            "unseen": _UNSEEN.search(text),
            "mixed": any(_mixes(word) for word in words),
        }
        chunk = TextChunk(words, scripts(text), tuple(name for name, found in problems.items() if found))
        self._chunks[text] = chunk
        return chunk

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
        """How much of the text a usual word vocabulary covers; None if it covers all, and for a list of words."""
        counts = self.words()
        if len(counts) <= SHORTLIST or counts.total() < WORDS * len(self.lengths):
            return None
        covered = sum(count for _, count in counts.most_common(SHORTLIST)) / counts.total()
        return (
            f"{self.name}: the {SHORTLIST:,} most frequent words cover {covered:.1%} of the text; "
            f"{1 - covered:.1%} would be unknown"
        )


def _mixes(word: str) -> bool:
    """Whether a word mixes Latin letters with Cyrillic or Greek look-alikes."""
    found = scripts(word)
    return "Latin" in found and bool(found.keys() & {"Cyrillic", "Greek"})
