"""Beam search over a whole batch: the best few beginnings of every sentence grow side by side."""

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.registry import replaceable
from regard.search.decoding_loop import Candidates, Ended, Live, hypotheses, run
from regard.search.hypothesis import Hypothesis, LengthPenalty
from regard.search.scoring import best
from regard.search.search_options import Options
from regard.search.search_tree import Fate, Node, SearchTree
from regard.search.stepper import Stepper


class _Beam:
    def __init__(
        self, beam: int, nbest: int, penalty: LengthPenalty, limits: Sequence[int], record: SearchTree | None
    ) -> None:
        self._beam, self._nbest, self._penalty, self._record = beam, nbest, penalty, record
        # The most that a score can still be divided by: scores only fall, and the divisor never does.
        self._divisor = np.array([penalty.divisor(limit) for limit in limits])
        self._finished: list[list[float]] = [[] for _ in limits]  # min-heaps of the nbest best
        self._to_beat = np.full(len(limits), -np.inf)

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        """The `beam` best of all continuations of each sentence; ties: the earlier row, then the lower id."""
        values, ids = best(scores, self._beam)
        rows, rank = (axis.ravel() for axis in np.indices(values.shape))
        values, ids = values.ravel(), ids.ravel()
        possible = np.flatnonzero(~np.isneginf(values))
        rows, rank, values, ids = rows[possible], rank[possible], values[possible], ids[possible]
        sentence, total = live.sentence[rows], live.score[rows] + values
        if np.isnan(total).any():
            return Candidates(rows, ids, values)  # the loop reports it
        order = np.lexsort((rank, rows, -total, sentence))
        place = np.arange(len(order)) - np.searchsorted(sentence[order], sentence[order])
        kept = order[place < self._beam]
        if self._record is not None:
            outside = order[place >= self._beam]
            self._note(live.extend(Candidates(rows[outside], ids[outside], values[outside]), rows), "pruned")
        return Candidates(rows[kept], ids[kept], values[kept])

    def hopeful(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
        """Rows whose score over the greatest divisor within reach beats the nbest-th finished hypothesis."""
        for one in ended:
            if one.finished:
                heap = self._finished[one.sentence]
                heapq.heappush(heap, one.merit(self._penalty))
                if len(heap) > self._nbest:
                    heapq.heappop(heap)
                if len(heap) == self._nbest:
                    self._to_beat[one.sentence] = heap[0]
        mask = np.asarray(live.score / self._divisor[live.sentence] > self._to_beat[live.sentence])
        if self._record is not None:
            self._record.nodes += [
                Node(one.sentence, one.tokens, one.score, "finished" if one.finished else "cut") for one in ended
            ]
            self._note(live.take(np.flatnonzero(mask)), "kept")
            self._note(live.take(np.flatnonzero(~mask)), "hopeless")
        return mask

    def _note(self, live: Live, fate: Fate) -> None:
        assert self._record is not None
        rows = zip(live.sentence.tolist(), live.tokens.tolist(), live.score.tolist(), strict=True)
        self._record.nodes += [Node(sentence, tuple(tokens), score, fate) for sentence, tokens, score in rows]


@replaceable
def beam_search(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, "sentence"],
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    record: SearchTree | None = None,
    lengths: Int[Tensor, "sentence"] | None = None,
) -> list[list[Hypothesis]]:
    """Up to `nbest` hypotheses for each sentence, best normalised score first.

    Each step keeps the `beam` best continuations of a sentence. Those that end in EOS are set aside and take no
    place from then on, so beam 1 is greedy search. There is one row a sentence until the first choice, which makes
    duplicates impossible.

    When it stops: log-probabilities are never positive, so a live hypothesis of score s can reach s / lp(limit) at
    best, lp being the length penalty. Rows that cannot beat the nbest-th finished hypothesis are let go, and a
    sentence leaves the batch with its last row; nothing better is ever missed by that. A coverage penalty, counted
    where the `lengths` of the sources are given, is never positive either.

    Hypotheses cut off at their limit come after all finished ones. `limits` and `prefixes`: as in `greedy_search`.
    """
    if beam < 1 or not 1 <= nbest <= beam:
        raise ValueError(f"beam must be 1 or more and nbest between 1 and beam, got beam {beam} and nbest {nbest}")
    options = options or Options()
    strategy = _Beam(beam, nbest, options.penalty, limits.tolist(), record)
    ended, trail = run(stepper, source, limits, strategy, options, prefixes, lengths=lengths)

    def merit(one: Ended) -> tuple[bool, float]:
        return one.finished, one.merit(options.penalty)

    # The sort is stable: of equal hypotheses the one that ended first stays first.
    ranked = [sorted(group, key=merit, reverse=True)[:nbest] for group in ended]
    flat = iter(hypotheses([one for group in ranked for one in group], trail, options))
    return [[next(flat) for _ in group] for group in ranked]
