"""The protocol of strategies, their inputs and outputs at each step (live hypotheses, candidates, ends); `Greedy`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.scoring import best
from regard.search.search_options import LengthPenalty


@dataclass(frozen=True)
class Live:
    """The unfinished hypotheses, one a row, sorted by sentence; kept on the host, where choosing is cheap."""

    sentence: Int[np.ndarray, "rows"]
    score: Float[np.ndarray, "rows"]
    tokens: Int[np.ndarray, "rows step"]
    values: Float[np.ndarray, "rows step"]
    path: Int[np.ndarray, "rows step"]
    seen: Float[np.ndarray, "rows source"] | None = None
    """The attention that each source position received so far; None without a coverage penalty."""

    @classmethod
    def begin(cls, sentence: Int[np.ndarray, "rows"]) -> "Live":
        rows = len(sentence)
        numbers = np.zeros((rows, 0), dtype=np.int64)
        return cls(sentence, np.zeros(rows), numbers, np.zeros((rows, 0)), numbers)

    def take(self, rows: Int[np.ndarray, "chosen"]) -> "Live":
        if len(rows) == len(self.sentence) and np.array_equal(rows, np.arange(len(rows))):
            return self
        seen = None if self.seen is None else self.seen[rows]
        return Live(self.sentence[rows], self.score[rows], self.tokens[rows], self.values[rows], self.path[rows], seen)

    def extend(
        self,
        choice: "Candidates",
        numbers: Int[np.ndarray, "rows"],
        weights: Float[np.ndarray, "rows source"] | None = None,
    ) -> "Live":
        """A row for each chosen candidate.

        `numbers` are the indices of this step's rows, `weights` their attention weights over the source.
        """
        parents = self.take(choice.parent)
        seen = None if weights is None else weights[choice.parent]
        return Live(
            parents.sentence,
            parents.score + choice.value,
            np.concatenate([parents.tokens, choice.token[:, None]], axis=1),
            np.concatenate([parents.values, choice.value[:, None]], axis=1),
            np.concatenate([parents.path, numbers[choice.parent][:, None]], axis=1),
            seen if seen is None or parents.seen is None else parents.seen + seen,
        )


@dataclass(frozen=True)
class Candidates:
    """The choice of a strategy: token `token[i]` with log-probability `value[i]` after live row `parent[i]`."""

    parent: Int[np.ndarray, "candidates"]
    token: Int[np.ndarray, "candidates"]
    value: Float[np.ndarray, "candidates"]


@dataclass(frozen=True)
class Ended:
    """A hypothesis that has ended; its attention is collected later, along `path`."""

    sentence: int
    score: float
    tokens: tuple[int, ...]
    values: tuple[float, ...]
    path: Int[np.ndarray, "step"]
    finished: bool
    coverage: float = 0.0
    """The coverage penalty, 0 or negative; part of the merit."""

    def merit(self, penalty: LengthPenalty) -> float:
        """The score by which hypotheses are ranked."""
        return penalty.normalise(self.score, len(self.tokens)) + self.coverage


@runtime_checkable
class Strategy(Protocol):
    """How a search chooses tokens: greedy, beam or sampling."""

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        """Candidates sorted by sentence; those at -inf are left out, NaN is passed on."""
        ...

    def can_still_win(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
        """Which rows are worth another step, given those that ended just now."""
        ...


def every_row(live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
    """`can_still_win` of strategies whose rows do not compete with each other."""
    return np.ones(len(live.sentence), dtype=bool)


class Greedy:
    """The most probable token at each step. Equal probabilities: the lowest id wins."""

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        values, ids = best(scores, 1)
        rows = np.flatnonzero(~np.isneginf(values[:, 0]))
        return Candidates(rows, ids[rows, 0], values[rows, 0])

    can_still_win = staticmethod(every_row)


def check_choice(choice: Candidates, live: Live, ended: Sequence[Sequence[Ended]]) -> None:
    """Raise if a score is NaN, or if a sentence has neither a candidate nor an ended hypothesis."""
    step = live.tokens.shape[1]
    wrong = np.isnan(choice.value)
    if wrong.any():
        raise not_a_number(step, int(live.sentence[choice.parent[wrong.argmax()]]))
    going = np.zeros(len(ended), dtype=bool)
    going[live.sentence[choice.parent]] = True
    for sentence in live.sentence[~going[live.sentence]].tolist():
        if not ended[sentence]:
            raise NothingPossible(step, sentence)


def not_a_number(step: int, sentence: int) -> ValueError:
    return ValueError(
        f"the model gave NaN, +inf or only -inf as logits at step {step} (0-based) of sentence {sentence}: "
        "its weights are probably damaged or training diverged"
    )


class NothingPossible(ValueError):
    """Prefixes, forced tokens and forbidden tokens leave a sentence without any continuation."""

    def __init__(self, step: int, sentence: int) -> None:
        super().__init__(
            f"no token is possible at step {step} (0-based) of sentence {sentence}: all that the model allows is "
            "forbidden, or it gives the forced token probability 0"
        )
