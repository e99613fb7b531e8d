"""Compares two systems on one test set by paired bootstrap (Koehn 2004)."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from regard.evaluation import (
    Comparison,
    bleu_from,
    bleu_statistics,
    chrf_from,
    chrf_statistics,
    match_statistics,
    paired_bootstrap,
    share,
)
from regard.lab.evaluate import Measured
from regard.text.errors import InputError

SAMPLES = 1000
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Against:
    """The other system's name and scores, and the comparison of each metric; `first` is our system."""

    name: str
    measured: Measured
    comparisons: dict[str, Comparison]

    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "scores": self.measured.json(),
            "comparisons": {metric: asdict(one) for metric, one in self.comparisons.items()},
        }


def compare_systems(ours: Measured, theirs: Measured, name: str, *, samples: int = SAMPLES, seed: int = 0) -> Against:
    """Compare BLEU, chrF and exact match on the same resampled sentences."""
    if ours.references != theirs.references:
        raise InputError(
            "the two systems are not compared with the same references: they write text in different forms; "
            "use --protocol raw, lowercase or multi30k-…"
        )
    protocol, references = ours.protocol, ours.references

    def bleu(texts: list[str]) -> Any:
        return bleu_statistics(texts, references, tokenize=protocol.tokenize, lowercase=protocol.lowercase)

    metrics: dict[str, tuple[Callable[[list[str]], Any], Callable[[Any], float]]] = {
        "bleu": (bleu, bleu_from),
        "chrf": (lambda texts: chrf_statistics(texts, references, lowercase=protocol.lowercase), chrf_from),
        "exact_match": (lambda texts: match_statistics(texts, references), share),
    }
    comparisons = {
        metric: paired_bootstrap(count(ours.texts), count(theirs.texts), score, samples=samples, seed=seed)
        for metric, (count, score) in metrics.items()
    }
    return Against(name, theirs, comparisons)


def verdict(comparison: Comparison) -> str:
    """The conclusion in words."""
    if comparison.p_value >= SIGNIFICANT:
        return "may be chance"
    return "better" if comparison.difference > 0 else "worse"
