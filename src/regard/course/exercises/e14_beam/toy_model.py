"""Exercise 14: a model that exists for searching in it."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

Words = tuple[int, ...]
EOS = 0


@dataclass(frozen=True)
class ToyModel:
    """Log-probabilities drawn anew for every beginning; at the last place only EOS is possible.

    Before `shortest` words EOS is impossible."""

    seed: int
    vocabulary: int
    longest: int
    eos: int = EOS
    shortest: int = 1

    def __call__(self, words: Words) -> ndarray:
        logits = np.random.default_rng([self.seed, *words]).normal(size=self.vocabulary) * 1.5
        if len(words) >= self.longest - 1:
            logits[np.arange(self.vocabulary) != self.eos] = -np.inf
        if len(words) < self.shortest - 1:
            logits[self.eos] = -np.inf
        values: ndarray = logits - np.log(np.exp(logits).sum())
        return values
