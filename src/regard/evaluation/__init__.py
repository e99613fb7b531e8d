"""How good a translation is: BLEU, chrF, TER, exact match, error rates, by length, and whether two systems differ."""

from regard.evaluation.bootstrap import PairedComparison, bootstrap_interval, paired_bootstrap
from regard.evaluation.by_length import DEFAULT_EDGES, Bin, bins
from regard.evaluation.evaluate_texts import Evaluation, LengthScores, evaluate
from regard.evaluation.references import References
from regard.evaluation.scores import CorpusScore, bleu, chrf, exact_match, ter
from regard.evaluation.statistics import bleu_from, bleu_statistics, chrf_from, chrf_statistics, match_statistics, share
from regard.evaluation.word_errors import wer

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
