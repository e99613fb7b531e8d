"""The strategy of greedy search: the most probable token at each step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from regard.search.scoring import best
from regard.search.strategy import Candidates, Ended, Live


class Greedy:
    """Equal probabilities: the lowest id wins."""

    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        values, ids = best(scores, 1)
        rows = np.flatnonzero(~np.isneginf(values[:, 0]))
        return Candidates(rows, ids[rows, 0], values[rows, 0])

    def hopeful(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
        return np.ones(len(live.sentence), dtype=bool)
