"""Prefixes: the tokens that each output must begin with, checked once and looked up at every step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from regard.search.search_options import Options


def check_prefixes(
    prefixes: Sequence[Sequence[int]] | None, longest: Int[np.ndarray, "sentence"], options: Options
) -> None:
    """Raise unless every sentence has a prefix of token ids that fits into its limit."""
    if prefixes is None:
        return
    if len(prefixes) != len(longest):
        raise ValueError(f"{len(prefixes)} prefixes for {len(longest)} sentences; give each one, () where it is free")
    for sentence, (prefix, limit) in enumerate(zip(prefixes, longest.tolist(), strict=True)):
        if len(prefix) > limit:
            raise ValueError(f"the prefix of sentence {sentence} has {len(prefix)} tokens, its limit is {limit}")
        for position, token in enumerate(prefix):
            if token < 0 or token in (options.pad, options.bos):
                raise ValueError(
                    f"the prefix of sentence {sentence} holds {token} at position {position}; "
                    "give token ids alone, without BOS and padding"
                )
            if token == options.eos and position < len(prefix) - 1:
                raise ValueError(f"the prefix of sentence {sentence} goes on after EOS at position {position}")


def forced_tokens(
    prefixes: Sequence[Sequence[int]] | None, sentences: Int[np.ndarray, "rows"], step: int
) -> list[int | None]:
    """The token that each row must take at this step; None if it is free."""
    if prefixes is None:
        return [None] * len(sentences)
    return [prefixes[one][step] if step < len(prefixes[one]) else None for one in sentences.tolist()]
