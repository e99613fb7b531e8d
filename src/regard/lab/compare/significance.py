"""Paired significance between the variants of a comparison: which differences may be chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.evaluation import PairedComparison, paired_bootstrap
from regard.lab.against import FROM_STATISTICS, verdict
from regard.lab.compare.results import Result, Row

METRICS = ("bleu", "exact_match")
MOST_PAIRS = 66
"""Where there are more pairs of variants, each is compared with the first variant only."""
ABOUT = (
    "paired bootstrap (Koehn 2004): 1,000 test sets drawn from the sentences, the same ones for both variants, with "
    "the counts of their common seeds added up; p is the probability of such a difference by chance, not corrected for "
    "the number of pairs"
)


@dataclass(frozen=True)
class Pairing:
    """Two variants on the same sentences, and each metric of METRICS; differences are first - second."""

    first: str
    second: str
    seeds: int
    comparisons: dict[str, PairedComparison]

    def json(self) -> dict[str, Any]:
        return asdict(self)

    def cells(self) -> list[str]:
        """A row of the table of pairs: names, difference of BLEU, interval, p and what it means."""
        one = self.comparisons["bleu"]
        interval = f"{one.low:+.2f} to {one.high:+.2f}"
        return [self.first, self.second, f"{one.difference:+.2f}", interval, f"{one.p_value:.3f}", verdict(one)]


def pair_up(rows: Sequence[Row]) -> list[Pairing]:
    """Every pair of variants that was scored on the same sentences with the same references."""
    done = [row for row in rows if row.runs]
    pairs = list(combinations(done, 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [(done[0], other) for other in done[1:]]
    return [found for first, second in pairs if (found := _pair(first, second)) is not None]


def _pair(first: Row, second: Row) -> Pairing | None:
    ours, theirs = ({run["seed"]: run for run in row.runs if "statistics" in run} for row in (first, second))
    seeds = sorted(ours.keys() & theirs.keys())
    compared_with = {runs[seed]["references"] for runs in (ours, theirs) for seed in seeds}
    if len(compared_with) != 1:  # different sentences, or references that another vocabulary writes differently
        return None
    comparisons = {
        metric: paired_bootstrap(
            _total([ours[seed] for seed in seeds], metric), _total([theirs[seed] for seed in seeds], metric),
            FROM_STATISTICS[metric],
        )
        for metric in METRICS
    }  # fmt: skip
    return Pairing(first.label, second.label, len(seeds), comparisons)


def _total(runs: Sequence[Result], metric: str) -> Float[np.ndarray, "sentence statistic"]:
    total: Float[np.ndarray, "sentence statistic"] = np.sum([run["statistics"][metric] for run in runs], axis=0)
    return total
