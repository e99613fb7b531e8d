"""Pronunciation models read one word at a time: a text becomes words of known letters, their answers one translation.

"Café, well-known"  ->  cafe, well, known  ->  "K AH F EY | W EH L | N OW N"
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, product
from typing import Any

import numpy as np

from regard.bounds import cut
from regard.bundle.store import Bundle
from regard.runtime.source_text import BLANK, SourceText, name_pieces, read_source
from regard.runtime.translation import Translation
from regard.search import SearchConfig
from regard.text.input_error import InputError
from regard.text.special import EOS, SPECIAL
from regard.text.tokenizer import Tokenizer

SPOKEN = "#%&@"
"""Punctuation that people pronounce, so that leaving it out is reported."""
BETWEEN = "|"
"""Separates the words of a pronounced text."""
LETTERS = 1000
"""Largest number of letters of a text that are read: its attention is one matrix, letters by phones."""


def reads_one_word(bundle: Bundle[Any]) -> bool:
    """Whether the model reads the letters of one word (it knows no space) and writes symbols, phones for instance."""
    source, target = bundle.source, bundle.target.config
    return source.config.kind == "character" and " " not in source.pieces and (target.kind, target.words) == (
        "word", "spaces",
    )  # fmt: skip


def read_text(text: str, bundle: Bundle[Any], longest: int) -> SourceText:
    """The pieces of one text that the model reads; a model of single words raises if the text has several."""
    if not reads_one_word(bundle):
        return read_source(text, bundle.source, eos=bundle.manifest.source_eos, longest=longest)
    spoken = SpokenText.of(text, bundle.source)
    source = read_source(spoken.only_word(), bundle.source, eos=bundle.manifest.source_eos, longest=longest)
    return replace(source, warnings=spoken.all_warnings(source.warnings))


def word_by_word(
    translate: Callable[[Sequence[str], Sequence[str] | None, Sequence[str] | None], list[Translation]],
    tokenizer: Tokenizer,
    texts: Sequence[str],
    targets: Sequence[str] | None,
    prefixes: Sequence[str] | None,
    config: SearchConfig,
) -> list[Translation]:
    """One translation for each text from those of its words; `translate` gets words, their targets and prefixes."""
    spoken = [SpokenText.of(one, tokenizer) for one in texts]
    words = [word for one in spoken for word in ([one.only_word()] if prefixes is not None else one.words)]
    if targets is not None:
        targets = [part for one, target in zip(spoken, targets, strict=True) for part in one.targets(target)]
    found = iter(translate(words, targets, prefixes))
    drawn = config.sampler is not None
    return [one.join([next(found) for _ in one.words], config.nbest, drawn=drawn) for one in spoken]


@dataclass(frozen=True)
class SpokenText:
    """The words of a text in letters that the model knows; one empty word if there are none."""

    words: tuple[str, ...]
    warnings: tuple[str, ...]
    cut: bool
    """Whether the text has more words than are read."""

    @classmethod
    def of(cls, text: str, tokenizer: Tokenizer) -> "SpokenText":
        """An unknown letter is read as its base letter (é as e); white space and unknown punctuation separate words.

        A part without a letter or digit (a lone apostrophe) is no word.
        """
        known, letters, left_out = set(tokenizer.pieces[EOS + 1 :]), list[str](), dict[str, None]()
        for one in tokenizer.config.normalise(text):
            category = unicodedata.category(one)[0]
            found = [one] if one in known else [part for part in unicodedata.normalize("NFKD", one) if part in known]
            letters += found
            if not found and category in "PZ" and one not in SPOKEN:
                letters.append(" ")
            elif not found and category != "M":
                left_out[one] = None
        words = [word for word in "".join(letters).split() if any(map(str.isalnum, word))]
        read = max(1, bisect_right([*accumulate(map(len, words))], LETTERS))
        cut = read < len(words)
        warnings = [f"too long: only the first {read:,} of {len(words):,} words were read"] if cut else []
        if left_out:
            remedy = "; write numbers in words" if any(map(str.isdecimal, left_out)) else ""
            warnings.append(f"unknown to this model and left out: {name_pieces([*left_out])}{remedy}")
        elif not words:
            warnings.append(BLANK)
        return cls(tuple(words[:read]) or ("",), tuple(warnings), cut)

    def targets(self, target: str) -> list[str]:
        """The given pronunciation of each word."""
        parts = [part.strip() for part in target.split(BETWEEN)]
        if len(parts) != len(self.words):
            raise InputError(
                f"'{cut(' '.join(self.words))}' has {len(self.words)} words, but its given pronunciation {len(parts)}: "
                f"separate words by {BETWEEN}"
            )
        return parts

    def only_word(self) -> str:
        """The word of a text that may have one only."""
        if len(self.words) > 1:
            raise InputError(
                f"'{cut(' '.join(self.words))}' has {len(self.words)} words, and this model reads one at a time: "
                "give one word"
            )
        return self.words[0]

    def join(self, found: Sequence[Translation], most: int, *, drawn: bool) -> Translation:
        """One translation from those of the words, with up to `most` - 1 alternatives, best first.

        Alternatives combine those of the words; samples, which were `drawn`, keep their order.
        """
        lists = [[one, *one.alternatives] for one in found]
        joined: list[Translation]
        if drawn:
            joined = [reduce(_after, combination) for combination in zip(*lists, strict=True)]
        else:
            joined = reduce(lambda left, right: _best(left, right, most), lists)
        first, *others = (
            replace(
                one,
                alternatives=(),
                warnings=self.all_warnings(one.warnings),
                source_cut=one.source_cut or self.cut,
            )
            for one in joined
        )
        return replace(first, alternatives=tuple(others))

    def all_warnings(self, others: Sequence[str]) -> tuple[str, ...]:
        """The warnings of the text, then those of its words, without repetitions."""
        return tuple(dict.fromkeys((*self.warnings, *(one for one in others if one != BLANK))))


def _best(left: Sequence[Translation], right: Sequence[Translation], most: int) -> list[Translation]:
    """The `most` best combinations: scores add up, so no other beginnings are needed for the best of three words."""
    pairs = sorted(product(left, right), key=lambda pair: -(pair[0].normalised_score + pair[1].normalised_score))
    return [_after(*pair) for pair in pairs[:most]]


def _after(left: Translation, right: Translation) -> Translation:
    """Two words after each other: the end of the first becomes the separator, in the source a space."""
    attention = None
    if left.attention is not None and right.attention is not None:
        (layers, heads, rows, columns), (_, _, below, beside) = left.attention.shape, right.attention.shape
        attention = np.zeros((layers, heads, rows + below, columns + beside), dtype=left.attention.dtype)
        attention[:, :, :rows, :columns] = left.attention
        attention[:, :, rows:, columns:] = right.attention
        attention.setflags(write=False)
    sources, targets = len(left.source_words), len(left.target_words)
    return replace(
        right,
        source=f"{left.source} {right.source}",
        text=f"{left.text} {BETWEEN} {right.text}",
        score=left.score + right.score,
        normalised_score=left.normalised_score + right.normalised_score,
        probabilities=left.probabilities + right.probabilities,
        source_pieces=_ended(left.source_pieces, " ") + right.source_pieces,
        target_pieces=_ended(left.target_pieces, BETWEEN) + right.target_pieces,
        source_words=left.source_words + right.source_words,
        target_words=left.target_words + right.target_words,
        source_word_of=left.source_word_of + _moved(right.source_word_of, sources),
        target_word_of=left.target_word_of + _moved(right.target_word_of, targets),
        attention=attention,
        finished=left.finished and right.finished,
        warnings=left.warnings + right.warnings,
        source_cut=left.source_cut or right.source_cut,
    )


def _ended(pieces: tuple[str, ...], end: str) -> tuple[str, ...]:
    return (*pieces[:-1], end) if pieces[-1:] == (SPECIAL[EOS],) else pieces


def _moved(words: tuple[int | None, ...], by: int) -> tuple[int | None, ...]:
    return tuple(None if word is None else word + by for word in words)
