"""The decoding loop: step, choose, remove what ended. Greedy, beam and sampling search differ only in the strategy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.hypothesis import Hypothesis, LengthPenalty
from regard.search.scoring import log_probabilities, restrict
from regard.search.search_options import Options
from regard.search.stepper import Stepper
from regard.search.trail import Trail

UNSEEN = 1e-3
"""What a position that nothing looked at counts as: its logarithm must be finite."""


@dataclass(frozen=True)
class Live:
    """The unfinished hypotheses, one a row, sorted by sentence; kept on the host, where choosing is cheap."""

    sentence: Int[np.ndarray, "rows"]
    score: Float[np.ndarray, "rows"]
    tokens: Int[np.ndarray, "rows step"]
    values: Float[np.ndarray, "rows step"]
    path: Int[np.ndarray, "rows step"]
    seen: Float[np.ndarray, "rows source"] | None = None
    """How much each source position was looked at so far; kept only where coverage counts."""

    @classmethod
    def begin(cls, sentence: Int[np.ndarray, "rows"]) -> "Live":
        rows = len(sentence)
        numbers = np.zeros((rows, 0), dtype=np.int64)
        return cls(sentence, np.zeros(rows), numbers, np.zeros((rows, 0)), numbers)

    def take(self, rows: Int[np.ndarray, "chosen"]) -> "Live":
        seen = None if self.seen is None else self.seen[rows]
        return Live(self.sentence[rows], self.score[rows], self.tokens[rows], self.values[rows], self.path[rows], seen)

    def extend(
        self,
        choice: "Candidates",
        numbers: Int[np.ndarray, "rows"],
        looked: Float[np.ndarray, "rows source"] | None = None,
    ) -> "Live":
        """Each chosen candidate as a row of its own; `numbers` says which attention row made each present row, `looked`
        where it looked.
        """
        parents = self.take(choice.parent)
        seen = None if looked is None else looked[choice.parent]
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
    """What a strategy chose: token `token[i]` with log-probability `value[i]` after live row `parent[i]`."""

    parent: Int[np.ndarray, "candidates"]
    token: Int[np.ndarray, "candidates"]
    value: Float[np.ndarray, "candidates"]


@dataclass(frozen=True)
class Ended:
    """A hypothesis that takes no more part; its attention is fetched only on request."""

    sentence: int
    score: float
    tokens: tuple[int, ...]
    values: tuple[float, ...]
    path: Int[np.ndarray, "step"]
    finished: bool
    coverage: float = 0.0
    """What is taken off its normalised score for source positions that nothing looked at."""

    def merit(self, penalty: LengthPenalty) -> float:
        """What hypotheses are ranked by."""
        return penalty.normalise(self.score, len(self.tokens)) + self.coverage


@runtime_checkable
class Strategy(Protocol):
    """What makes a search this search."""

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        """Candidates sorted by sentence; those at -inf are left out, NaN is passed on."""
        ...

    def hopeful(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
        """Which rows are worth another step, given those that ended just now."""
        ...


def run(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, "sentence"],
    strategy: Strategy,
    options: Options,
    prefixes: Sequence[Sequence[int]] | None = None,
    copies: int = 1,
    lengths: Int[Tensor, "sentence"] | None = None,
) -> tuple[list[list[Ended]], Trail]:
    """All ended hypotheses of each sentence. `limits` count tokens, EOS included; the search runs on their device.

    `lengths` are those of the sources, without which coverage is not counted.
    """
    longest = limits.cpu().numpy()
    prefixes = _checked(prefixes, longest, options)
    ended: list[list[Ended]] = [[] for _ in longest]
    trail = Trail()
    for sentence in np.flatnonzero(longest <= 0).tolist():
        ended[sentence] = [Ended(sentence, 0.0, (), (), np.zeros(0, dtype=np.int64), finished=False)] * copies
    covers = lengths.cpu().numpy() if lengths is not None and options.coverage else None
    first = np.repeat(np.flatnonzero(longest > 0), copies)
    if not len(first):
        return ended, trail
    with torch.no_grad():
        live, state = Live.begin(first), stepper.start(source)
        if copies > 1 or len(first) < len(longest):
            state = state.select(torch.as_tensor(first, device=limits.device))
        tokens = torch.full((len(first),), options.bos, dtype=torch.long, device=limits.device)
        while len(live.sentence):
            step = stepper.step(tokens, state)
            forced = _forced(live, prefixes)
            scores = restrict(log_probabilities(step.logits), live.tokens, forced, options)
            choice = strategy.choose(scores, live)
            _check(choice, live, ended)
            numbers = trail.add(step.weights if options.weights else None, len(live.sentence))
            grown = live.extend(choice, numbers, None if covers is None else _looked(step.weights))
            going, now = _part(grown, longest, options, covers)
            for hypothesis in now:
                ended[hypothesis.sentence].append(hypothesis)
            rows = going[strategy.hopeful(grown.take(going), now)]
            parents, before = choice.parent[rows], len(live.sentence)
            live, state = grown.take(rows), step.state
            if len(parents) and not np.array_equal(parents, np.arange(before)):
                state = state.select(torch.as_tensor(parents, device=limits.device))
            tokens = torch.as_tensor(np.ascontiguousarray(live.tokens[:, -1]), device=limits.device)
    return ended, trail


def hypotheses(ended: Sequence[Ended], trail: Trail, options: Options) -> list[Hypothesis]:
    """The public form of what a loop found, attention included."""
    weights = trail.collect([one.path for one in ended])
    return [
        Hypothesis(
            tokens=one.tokens,
            score=one.score,
            normalised=one.merit(options.penalty),
            log_probabilities=one.values,
            weights=weight,
            finished=one.finished,
        )
        for one, weight in zip(ended, weights, strict=True)
    ]


def _looked(weights: Float[Tensor, "rows layer head source"] | None) -> Float[np.ndarray, "rows source"] | None:
    """The mean over layers and heads, on the host; None where nothing looks."""
    return None if weights is None else weights.float().mean(dim=(1, 2)).cpu().numpy()


def coverage_penalty(seen: Float[np.ndarray, " source"], weight: float) -> float:
    """weight · Σ_s ln min(seen_s, 1): 0 where every position was looked at, less where one was passed over."""
    return weight * float(np.log(np.clip(seen, UNSEEN, 1.0)).sum())


def _part(
    grown: Live, longest: Int[np.ndarray, "sentence"], options: Options, covers: Int[np.ndarray, "sentence"] | None
) -> tuple[Int[np.ndarray, "going"], list[Ended]]:
    """Rows that go on, and the hypotheses that ended by EOS or at their limit."""
    finished = grown.tokens[:, -1] == options.eos
    over = finished | (longest[grown.sentence] <= grown.tokens.shape[1])
    now = [
        Ended(
            sentence=int(grown.sentence[row]),
            score=float(grown.score[row]),
            tokens=tuple(grown.tokens[row].tolist()),
            values=tuple(grown.values[row].tolist()),
            path=grown.path[row],
            finished=bool(finished[row]),
            coverage=0.0
            if grown.seen is None or covers is None
            else coverage_penalty(grown.seen[row, : covers[grown.sentence[row]]], options.coverage),
        )
        for row in np.flatnonzero(over)
    ]
    return np.flatnonzero(~over), now


def _forced(live: Live, prefixes: Sequence[Sequence[int]] | None) -> list[int | None]:
    step = live.tokens.shape[1]
    if prefixes is None:
        return [None] * len(live.sentence)
    return [prefixes[one][step] if step < len(prefixes[one]) else None for one in live.sentence.tolist()]


def _check(choice: Candidates, live: Live, ended: Sequence[Sequence[Ended]]) -> None:
    """Every live sentence must go on, or have something to show already."""
    step = live.tokens.shape[1]
    wrong = np.isnan(choice.value)
    if wrong.any():
        raise not_a_number(step, int(live.sentence[choice.parent[wrong.argmax()]]))
    going = np.zeros(len(ended), dtype=bool)
    going[live.sentence[choice.parent]] = True
    for sentence in live.sentence[~going[live.sentence]].tolist():
        if not ended[sentence]:
            raise nothing_possible(step, sentence)


def not_a_number(step: int, sentence: int) -> ValueError:
    return ValueError(
        f"the model gave NaN, +inf or only -inf as logits at step {step} (0-based) of sentence {sentence}: "
        "its weights are probably damaged or training diverged"
    )


def nothing_possible(step: int, sentence: int) -> ValueError:
    return ValueError(
        f"no token is possible at step {step} (0-based) of sentence {sentence}: all that the model allows is "
        "forbidden, or it gives the forced token probability 0"
    )


def _checked(
    prefixes: Sequence[Sequence[int]] | None, longest: Int[np.ndarray, "sentence"], options: Options
) -> Sequence[Sequence[int]] | None:
    if prefixes is None:
        return None
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
    return prefixes
