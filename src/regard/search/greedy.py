"""Greedy search: the most probable token at each step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.registry import replaceable
from regard.search.decoding_loop import Candidates, Ended, Live, hypotheses, run
from regard.search.hypothesis import Hypothesis
from regard.search.scoring import best
from regard.search.search_options import Options
from regard.search.stepper import Stepper


class _Greedy:
    def choose(self, scores: Float[Tensor, "rows vocabulary"], live: Live) -> Candidates:
        values, ids = best(scores, 1)
        rows = np.flatnonzero(~np.isneginf(values[:, 0]))
        return Candidates(rows, ids[rows, 0], values[rows, 0])

    def hopeful(self, live: Live, ended: Sequence[Ended]) -> Bool[np.ndarray, "rows"]:
        return np.ones(len(live.sentence), dtype=bool)


@replaceable
def greedy_search(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, "sentence"],
    *,
    options: Options | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """One hypothesis for each sentence; a sentence leaves the batch as soon as it ends.

    `limits` gives the most tokens (EOS included) for each sentence, on the device of the model.
    Equal probabilities: the lowest id wins. `prefixes[i]` are the tokens that output i must begin with.
    """
    options = options or Options()
    ended, trail = run(stepper, source, limits, _Greedy(), options, prefixes)
    return hypotheses([one for (one,) in ended], trail, options)
