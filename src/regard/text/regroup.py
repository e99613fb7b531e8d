"""The words of an encoded text split in another way than its tokenizer splits them."""

from bisect import bisect_right

from regard.text.encoding import Encoding
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
