"""Compares two systems on one test set by paired bootstrap (Koehn 2004)."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.evaluation import (
    PairedComparison,
    bleu_from,
    bleu_statistics,
    chrf_from,
    chrf_statistics,
    match_statistics,
    paired_bootstrap,
    share,
)
from regard.lab.evaluate_model import Measured
from regard.text.input_error import InputError

FROM_STATISTICS: dict[str, Callable[[Float[np.ndarray, "statistic"]], float]] = {
    "bleu": bleu_from,
    "chrf": chrf_from,
    "exact_match": share,
}
"""The metrics that are compared, from summed statistics."""
SAMPLES = 1000
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class OtherSystem:
    """The other system's name and scores, and the comparison of each metric; `first` is our system."""

    name: str
    measured: Measured
    comparisons: dict[str, PairedComparison]

    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "scores": self.measured.json(),
            "comparisons": {metric: asdict(one) for metric, one in self.comparisons.items()},
        }


def sentence_statistics(measured: Measured) -> dict[str, Float[np.ndarray, "sentence statistic"]]:
    """The counts of each sentence for each metric of FROM_STATISTICS."""
    protocol, texts, references = measured.protocol, measured.texts, measured.references
    return {
        "bleu": bleu_statistics(texts, references, tokenize=protocol.tokenize, lowercase=protocol.lowercase),
        "chrf": chrf_statistics(texts, references, lowercase=protocol.lowercase),
        "exact_match": match_statistics(texts, references),
    }


def compare_systems(ours: Measured, theirs: Measured, name: str, *, samples: int = SAMPLES) -> OtherSystem:
    """Compare BLEU, chrF and exact match on the same resampled sentences."""
    if ours.references != theirs.references:
        raise InputError(
            "the two systems are not compared with the same references: they write text in different forms; "
            "use --protocol raw, lowercase or multi30k-…"
        )
    first, second = sentence_statistics(ours), sentence_statistics(theirs)
    comparisons = {
        metric: paired_bootstrap(first[metric], second[metric], score, samples=samples)
        for metric, score in FROM_STATISTICS.items()
    }
    return OtherSystem(name, theirs, comparisons)


def verdict(comparison: PairedComparison) -> str:
    if comparison.p_value >= SIGNIFICANT:
        return "may be chance"
    return "better" if comparison.difference > 0 else "worse"
