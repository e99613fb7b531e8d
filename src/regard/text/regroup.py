"""The words of an encoded text split in another way than its tokenizer splits them."""

from bisect import bisect_right
from collections.abc import Sequence

from regard.text.encoding import Encoding
from regard.text.normalise import Normaliser
from regard.text.words import Splitting, word_spans


def regroup(encoding: Encoding, own: Splitting, spaces: bool) -> tuple[tuple[str, ...], tuple[int | None, ...]]:
    """The words of the whole text and the word of each piece, split as the tokenizer does (`own`) or at white space.

    What white space separates is never finer than a tokenizer's words, so each piece lies in one of them.
    """
    spans = word_spans(encoding.text, "spaces" if spaces else own)
    texts = tuple(encoding.text[start:end] for start, end in spans)
    if not spaces:
        return texts, encoding.words
    starts = [start for start, _ in spans]
    word_of = tuple(
        None if word is None else bisect_right(starts, start) - 1
        for word, (start, _) in zip(encoding.words, encoding.spans, strict=True)
    )
    return texts, word_of


def given_words(text: str, normal: Sequence[str], normalise: Normaliser) -> list[int]:
    """Which word of the text as it was given (what white space separates) each of its normalised words comes from.

    Normalising may drop a word (a lone soft hyphen) or make two of one (a zero-width space), and files of links count
    the words that stand in the file.

    >>> given_words("a \u00ad b\u200bc", ["a", "b", "c"], Normaliser())
    [0, 2, 2]
    """
    words = text.split()
    if len(words) == len(normal):
        return list(range(len(normal)))
    plain = normalise.model_copy(update={"drop_final_stop": False})
    origin = [number for number, word in enumerate(words) for _ in plain(word).split()]
    return origin[: len(normal)] if len(origin) >= len(normal) else list(range(len(normal)))
