"""14 · From greedy to beam search: a solution."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

Words = tuple[int, ...]
Model = Callable[[Words], Float[ndarray, " vocabulary"]]


def greedy(model: Model, eos: int, longest: int) -> tuple[Words, float]:
    """The most probable word at each step."""
    words: Words = ()
    score = 0.0
    while len(words) < longest and eos not in words:
        values = model(words)
        best = int(np.argmax(values))
        words, score = (*words, best), score + float(values[best])
    return words, score


def beam_search(model: Model, width: int, eos: int, longest: int) -> list[tuple[Words, float]]:
    """The finished hypotheses, best first, at most `width` of them."""
    living: list[tuple[Words, float]] = [((), 0.0)]
    finished: list[tuple[Words, float]] = []
    for _ in range(longest):
        candidates = [
            ((*words, word), score + float(value))
            for words, score in living
            for word, value in enumerate(model(words))
            if value > -np.inf
        ]
        best = sorted(candidates, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in best if one[0][-1] == eos]
        living = [one for one in best if one[0][-1] != eos]
    return sorted(finished, key=lambda one: one[1], reverse=True)[:width]
