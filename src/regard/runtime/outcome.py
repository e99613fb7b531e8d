"""From what a search found to translations: pieces become text, unknown words are copied, oddities are said."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp

import numpy as np

from regard.alignment import combine_heads
from regard.runtime.copying import copy_unknown
from regard.runtime.reading import Reading
from regard.runtime.translation import Translation
from regard.search import Hypothesis
from regard.text.encoding import Decoded, Encoding
from regard.text.special import UNK
from regard.text.tokenizer import Tokenizer


def blank_translation(reading: Reading) -> Translation:
    """What a text without words translates to."""
    return Translation(
        source=reading.encoding.text, text="", score=0.0, normalised_score=0.0, probabilities=(), source_pieces=(),
        target_pieces=(), source_words=(), target_words=(), source_word_of=(), target_word_of=(), attention=None,
        warnings=reading.warnings,
    )  # fmt: skip


def build_translation(
    reading: Reading,
    hypotheses: Sequence[Hypothesis],
    tokenizer: Tokenizer,
    *,
    given: Encoding | None = None,
    forced: bool = False,
    copy: bool = True,
    head: tuple[int, int] | None = None,
    shift: int = 0,
) -> Translation:
    """The first hypothesis as a translation, the others as its alternatives; `given` is what it had to begin with,
    `head` the one that was taught to align, so many rows after the one that writes.
    """
    found = [_one(reading, hypothesis, tokenizer, given, forced, copy, (head, shift)) for hypothesis in hypotheses]
    first, *others = found
    return replace(first, alternatives=tuple(others))


def _one(
    reading: Reading,
    hypothesis: Hypothesis,
    tokenizer: Tokenizer,
    given: Encoding | None,
    forced: bool,
    copy: bool,
    taught: tuple[tuple[int, int] | None, int],
) -> Translation:
    head, shift = taught
    source = reading.encoding
    attention = None
    if hypothesis.weights is not None:
        attention = hypothesis.weights[..., : len(source.ids)].cpu().numpy()
        attention.setflags(write=False)
    probabilities = tuple(exp(value) for value in hypothesis.log_probabilities)
    if forced and given is not None:
        decoded = Decoded(given.text, given.pieces, given.words, given.word_texts)
    else:
        copied: list[str | None] = []
        if copy and (UNK in source.ids or UNK in hypothesis.tokens):
            matrix = None if attention is None else combine_heads(attention, *(head or (None, None)))
            if matrix is not None and shift:  # the row after a token speaks for it; none follows the last
                matrix = np.vstack([matrix[shift:], np.zeros_like(matrix[:shift])])
            words, first = tokenizer.config.kind == "word", 0 if given is None else len(given.ids)
            copied = copy_unknown(hypothesis.tokens, probabilities, matrix, source, words=words, first=first)
        decoded = _write(hypothesis.tokens, copied, tokenizer, given)
    warnings = reading.warnings
    if not hypothesis.finished and not forced:
        warnings = (*warnings, f"the translation was cut after {len(hypothesis.tokens):,} pieces, before its end")
    return Translation(
        source=source.text,
        text=decoded.text,
        score=hypothesis.score,
        normalised_score=hypothesis.normalised,
        probabilities=probabilities,
        source_pieces=source.pieces,
        target_pieces=decoded.pieces,
        source_words=source.word_texts,
        target_words=decoded.word_texts,
        source_word_of=source.words,
        target_word_of=decoded.words,
        attention=attention,
        finished=hypothesis.finished,
        forced=forced,
        warnings=warnings,
        source_cut=reading.cut,
        head=head,
        shift=shift,
    )


def _write(
    tokens: Sequence[int], copied: Sequence[str | None], tokenizer: Tokenizer, given: Encoding | None
) -> Decoded:
    """The text of the tokens, `copied[i]` instead of token i; words that were given stay as they were given."""
    replaced = list(copied) or [None] * len(tokens)
    for place, (number, piece) in enumerate(zip(given.ids, given.pieces, strict=True) if given is not None else ()):
        replaced[place] = piece if number == UNK else None
    written = [token if word is None else UNK for token, word in zip(tokens, replaced, strict=True)]
    return tokenizer.decode_pieces(written, replaced)
