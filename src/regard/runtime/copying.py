"""Words that a model does not know are copied from the source to the place that looked at them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from regard.text.encoding import Encoding
from regard.text.special import EOS, UNK

SURE = 0.5
"""The least attention at which a known output word gives way to the unknown source word it was written for."""


def copy_unknown(
    tokens: Sequence[int],
    probabilities: Sequence[float],
    attention: Float[np.ndarray, "target source"] | None,
    source: Encoding,
    *,
    words: bool,
    first: int = 0,
) -> list[str | None]:
    """What to write instead of token i, or None; `words` where target pieces are whole words, `first` the first token
    that was not given.

    An unknown token is replaced by the unknown source piece that it looked at most, or the piece if none is unknown;
    without attention the first unknown token by the first unknown piece, and so on.

    Most models never saw an unknown word and write a known one in its place, but they look at the right one:

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
    return bool(row.argmax() == place and row[place] >= SURE)


def _name(source: Encoding, place: int, words: bool) -> str:
    word = source.words[place]
    return source.word_texts[word] if words and word is not None else source.pieces[place]
