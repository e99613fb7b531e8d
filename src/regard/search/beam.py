"""The strategy of beam search: keep the best few partial hypotheses of every sentence."""

import heapq
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from regard.search.hypothesis import LengthPenalty
from regard.search.scoring import best
from regard.search.search_tree import Fate, Node, SearchTree
from regard.search.strategy import Candidates, Ended, Live


class Beam:
    """Each step keeps the `beam` best continuations of a sentence; `hopeful` drops those that can no longer win."""

    def __init__(
        self, beam: int, nbest: int, penalty: LengthPenalty, limits: Sequence[int], record: SearchTree | None
    ) -> None:
        self._beam, self._nbest, self._penalty, self._record = beam, nbest, penalty, record
        # The largest divisor that a score can still get: scores only fall, and divisors never do.
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
