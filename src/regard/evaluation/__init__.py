"""How good a translation is: BLEU, chrF, TER, exact match, error rates, by length, and whether two systems differ."""

from regard.evaluation.bootstrap import PairedComparison, bootstrap_interval, paired_bootstrap
from regard.evaluation.evaluate_texts import DEFAULT_EDGES, Bin, Evaluation, LengthScores, bins, evaluate
from regard.evaluation.scores import (
    CorpusScore,
    References,
    bleu,
    bleu_from,
    bleu_statistics,
    chrf,
    chrf_from,
    chrf_statistics,
    exact_match,
    match_statistics,
    share,
    ter,
    wer,
)  # fmt: skip

__all__ = [
    "DEFAULT_EDGES",
    "Bin",
    "CorpusScore",
    "Evaluation",
    "LengthScores",
    "PairedComparison",
    "References",
    "bins",
    "bleu",
    "bleu_from",
    "bleu_statistics",
    "bootstrap_interval",
    "chrf",
    "chrf_from",
    "chrf_statistics",
    "evaluate",
    "exact_match",
    "match_statistics",
    "paired_bootstrap",
    "share",
    "ter",
    "wer",
]
