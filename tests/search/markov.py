"""The smallest Stepper: the next token depends only on the last one, by a table; no attention."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class MarkovState:
    steps: int

    def select(self, rows: Tensor) -> "MarkovState":
        return self


@dataclass(frozen=True)
class MarkovStep:
    logits: Tensor
    state: MarkovState
    weights: None = None


@dataclass(frozen=True)
class Markov:
    """`table[last, next]` are logits; from step `broken` on they are NaN."""

    table: Tensor
    broken: int | None = None

    def start(self, source: Tensor) -> MarkovState:
        return MarkovState(0)

    def step(self, tokens: Tensor, state: MarkovState) -> MarkovStep:
        logits = self.table[tokens]
        if self.broken is not None and state.steps >= self.broken:
            logits = logits * float("nan")
        return MarkovStep(logits, MarkovState(state.steps + 1))


def uniform(vocabulary: int, dtype: torch.dtype = torch.float32) -> Markov:
    return Markov(torch.zeros(vocabulary, vocabulary, dtype=dtype))
