"""The strategy of beam search: keep the best few partial hypotheses of every sentence; `SearchTree` records them."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from regard.search.scoring import best
from regard.search.search_options import LengthPenalty
from regard.search.strategy import Candidates, Ended, Live

Fate = Literal["kept", "finished", "cut", "pruned", "hopeless"]
"""kept: continued; finished: ended in EOS; cut: reached the limit; pruned: outside the beam;
hopeless: inside the beam, but unable to beat a finished hypothesis."""


@dataclass(frozen=True)
class Node:
    """One candidate; no two nodes of a sentence have the same tokens, so the parent is the node of `tokens[:-1]`."""

    sentence: int
    tokens: tuple[int, ...]
    score: float
    fate: Fate


@dataclass
class SearchTree:
    """Pass an empty one to `beam_search`, which fills it step by step."""

    nodes: list[Node] = field(default_factory=list)

    def of(self, sentence: int) -> list[Node]:
        return [node for node in self.nodes if node.sentence == sentence]


class Beam:
    """Each step keeps the `beam` best continuations of a sentence; `can_still_win` drops those that cannot win."""

    def __init__(
        self, beam: int, nbest: int, penalty: LengthPenalty, limits: Sequence[int], record: SearchTree | None
    ) -> None:
        self._beam, self._nbest, self._penalty, self._record = beam, nbest, penalty, record
        # A score never rises and a divisor never falls, so score / divisor of the limit bounds every final score.
        self._divisor = np.array([penalty.divisor(limit) for limit in limits])
        self._finished: list[list[float]] = [[] for _ in limits]  # min-heaps of the nbest best
        self._to_beat = np.full(len(limits), -np.inf)

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        """The `beam` best of all continuations of each sentence; ties: the earlier row, then the lower id."""
        values, ids = (part.ravel() for part in best(scores, self._beam))
        width = len(values) // len(live.sentence)
        sentence, total = np.repeat(live.sentence, width), np.repeat(live.score, width) + values
        if np.isnan(total).any():
            return Candidates(np.arange(len(values)) // width, ids, values)  # the loop reports it
        order = np.lexsort((-total, sentence))  # a stable sort
        place = np.arange(len(order)) - np.searchsorted(sentence, sentence)
        kept, outside = order[place < self._beam], order[place >= self._beam]
        if total.min() == -np.inf:
            kept, outside = kept[total[kept] > -np.inf], outside[total[outside] > -np.inf]
        if self._record is not None:
            pruned = Candidates(outside // width, ids[outside], values[outside])
            self._note(live.extend(pruned, np.arange(len(live.sentence))), "pruned")
        return Candidates(kept // width, ids[kept], values[kept])

    def can_still_win(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
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
