"""From hypotheses to translations: pieces become text, unknown words are copied, warnings are added."""

from collections.abc import Sequence
from math import exp

import numpy as np
from jaxtyping import Float

from regard.alignment import combine_heads
from regard.runtime.source_text import SourceText, unknown_pieces
from regard.runtime.translation import Translation
from regard.search import Hypothesis
from regard.text.encoding import DecodedText, Encoding
from regard.text.special import EOS, UNK
from regard.text.tokenizer import Tokenizer

COPY_ATTENTION = 0.5
"""Least attention of a known output word to an unknown source word at which it is replaced by that word."""


def blank_translation(source_text: SourceText) -> Translation:
    """The translation of a text without words."""
    return Translation(
        source=source_text.encoding.text, text="", score=0.0, normalised_score=0.0, probabilities=(), source_pieces=(),
        target_pieces=(), source_words=(), target_words=(), source_word_of=(), target_word_of=(), attention=None,
        warnings=source_text.warnings,
    )  # fmt: skip


def build_translation(
    source_text: SourceText,
    hypothesis: Hypothesis,
    tokenizer: Tokenizer,
    *,
    given: Encoding | None = None,
    forced: bool = False,
    copy: bool = True,
    head: tuple[int, int] | None = None,
    shift: int = 0,
) -> Translation:
    """A hypothesis as a translation; `given` is its prefix, or all of it if `forced`.

    `head` is the (layer, head) that guided alignment trained; `shift` is the row to use, counted from the one that
    produced the word.
    """
    source = source_text.encoding
    attention = None
    if hypothesis.weights is not None:
        attention = hypothesis.weights[..., : len(source.ids)].cpu().numpy()
        attention.setflags(write=False)
    probabilities = tuple(exp(value) for value in hypothesis.log_probabilities)
    if forced and given is not None:
        decoded = DecodedText(given.text, given.pieces, given.words, given.word_texts)
    else:
        copied: list[str | None] = []
        if copy and (UNK in source.ids or UNK in hypothesis.tokens):
            matrix = None if attention is None else combine_heads(attention, *(head or (None, None)))
            if matrix is not None and shift:  # a token is aligned by the row after it; none follows the last
                matrix = np.vstack([matrix[shift:], np.zeros_like(matrix[:shift])])
            words, first = tokenizer.config.kind == "word", 0 if given is None else len(given.ids)
            copied = copy_unknown(hypothesis.tokens, probabilities, matrix, source, words=words, first=first)
        decoded = _write(hypothesis.tokens, copied, tokenizer, given)
    warnings = source_text.warnings
    if given is not None and (unknown := unknown_pieces(given)):
        warnings = (*warnings, f"unknown to this model, in the {'target' if forced else 'prefix'}: {unknown}")
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
        source_cut=source_text.cut,
        head=head,
        shift=shift,
    )


def _write(
    tokens: Sequence[int], copied: Sequence[str | None], tokenizer: Tokenizer, given: Encoding | None
) -> DecodedText:
    """The text of the tokens, `copied[i]` instead of token i; unknown words of a prefix keep their spelling."""
    replaced = list(copied) or [None] * len(tokens)
    for place, (number, piece) in enumerate(zip(given.ids, given.pieces, strict=True) if given is not None else ()):
        replaced[place] = piece if number == UNK else None
    written = [token if word is None else UNK for token, word in zip(tokens, replaced, strict=True)]
    return tokenizer.decode_pieces(written, replaced)


def copy_unknown(
    tokens: Sequence[int],
    probabilities: Sequence[float],
    attention: Float[np.ndarray, "target source"] | None,
    source: Encoding,
    *,
    words: bool,
    first: int = 0,
) -> list[str | None]:
    """The source word to write instead of token i, or None.

    `words`: target pieces are whole words; `first`: the first token after a given prefix.

    An unknown token is replaced by the unknown source piece that it looked at most, or the piece if none is unknown;
    without attention the first unknown token by the first unknown piece, and so on.

    Models that saw no unknown words in training write a known word instead, but attend to the right one:

        the zebra sleeps  ->  le cheval dort      `cheval` looks at `zebra`, and is what the model was least sure of
                              le zebra dort
    """
    names = [_name(source, i, words) for i in range(len(source.ids))]
    unknown = [i for i, number in enumerate(source.ids) if number == UNK]
    free = range(first, len(tokens))
    holes = [t for t in free if tokens[t] == UNK]
    origin: dict[int, int] = {}
    if attention is None:
        origin = dict(zip(holes, unknown, strict=False))
    elif inside := unknown or [i for i, word in enumerate(source.words) if word is not None]:
        origin = {t: max(inside, key=lambda i: attention[t, i]) for t in holes}
    if attention is not None and words:
        for i in sorted(set(unknown) - set(origin.values())):
            looking = [t for t in free if tokens[t] != EOS and t not in origin and _looks(attention[t], i)]
            if looking:
                origin[min(looking, key=lambda t: probabilities[t])] = i
    return [names[origin[t]] if t in origin else None for t in range(len(tokens))]


def _looks(row: Float[np.ndarray, " source"], place: int) -> bool:
    return bool(row.argmax() == place and row[place] >= COPY_ATTENTION)


def _name(source: Encoding, place: int, words: bool) -> str:
    word = source.words[place]
    return source.word_texts[word] if words and word is not None else source.pieces[place]
