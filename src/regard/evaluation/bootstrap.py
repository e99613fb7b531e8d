"""Bootstrap over sentences: the interval of a score, and whether two systems really differ. (Koehn 2004)"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class PairedComparison:
    """Two systems on the same sentences."""

    first: float
    second: float
    difference: float
    """first - second."""
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    p_value: float
    """Two-sided: the probability of a difference at least as large if the systems were equally good."""
    samples: int


def paired_bootstrap(
    first: Float[np.ndarray, "sentence statistic"],
    second: Float[np.ndarray, "same_sentence same_statistic"],
    score: Callable[[Float[np.ndarray, "statistic"]], float],
    *,
    samples: int = 1000,
    seed: int = 0,
) -> PairedComparison:
    """Compares two systems on random test sets of the same size, drawn with replacement, the same ones for both.

    `score` turns summed statistics into the metric: paired_bootstrap(bleu_statistics(a, references),
    bleu_statistics(b, references), bleu_from). The p-value counts samples whose difference is at least as far
    from the mean difference as the observed difference is from 0; the observed one is counted as a sample, so that the
    p-value is never 0.
    """
    if first.shape != second.shape:
        raise ValueError(
            f"the first system has statistics of shape {first.shape}, the second {second.shape}: "
            "both need the same sentences and the same metric"
        )
    if not len(first):
        raise ValueError("no sentences to compare: the statistics are empty")
    if samples < 1:
        raise ValueError(f"samples must be 1 or more, got {samples}")
    drawn = _draws(len(first), samples, seed)
    differences = np.array(
        [score(ours) - score(theirs) for ours, theirs in zip(drawn @ first, drawn @ second, strict=True)]
    )
    ours, theirs = score(first.sum(axis=0)), score(second.sum(axis=0))
    extreme = np.abs(differences - differences.mean()) >= abs(ours - theirs)
    low, high = _middle(differences)
    return PairedComparison(
        first=ours,
        second=theirs,
        difference=ours - theirs,
        low=low,
        high=high,
        p_value=float((extreme.sum() + 1) / (samples + 1)),
        samples=samples,
    )


def bootstrap_interval(
    statistics: Float[np.ndarray, "sentence statistic"],
    score: Callable[[Float[np.ndarray, "statistic"]], float],
    samples: int = 1000,
) -> tuple[float, float]:
    """The 95 % interval of a score over test sets of the same size, drawn with replacement."""
    if not len(statistics):
        raise ValueError("no sentences to draw from: the statistics are empty")
    drawn = _draws(len(statistics), samples, 0)
    return _middle(np.array([score(total) for total in drawn @ statistics]))


def _draws(sentences: int, samples: int, seed: int) -> Float[np.ndarray, "sample sentence"]:
    """How often each sample, a test set of the same size, contains each sentence."""
    random = np.random.default_rng(seed)
    return random.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples).astype(float)


def _middle(values: Float[np.ndarray, " sample"]) -> tuple[float, float]:
    """The interval that contains the middle 95 %."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
