"""Counts for each sentence that add up to corpus scores, so that resampling costs a matrix product.

sacrebleu counts, and sacrebleu computes the score from the sum, as its own significance tests do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.evaluation.references import References, reference_lists, reference_streams
from regard.evaluation.scores import bleu_metric, chrf_metric, is_match


def bleu_statistics(
    hypotheses: Sequence[str], references: References, *, tokenize: str = "13a", lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """Lengths of hypothesis and reference, then matching and possible n-grams of orders 1 to 4."""
    return _statistics(bleu_metric(tokenize, lowercase), hypotheses, references)


def bleu_from(total: Float[np.ndarray, "statistic"]) -> float:
    """Corpus BLEU of summed statistics."""
    return _score(bleu_metric("none", False), total)


def chrf_statistics(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """For character orders 1 to 6: n-grams of the hypothesis, of the reference, in both."""
    return _statistics(chrf_metric(lowercase), hypotheses, references)


def chrf_from(total: Float[np.ndarray, "statistic"]) -> float:
    """Corpus chrF of summed statistics."""
    return _score(chrf_metric(), total)


def match_statistics(hypotheses: Sequence[str], references: References) -> Float[np.ndarray, "sentence statistic"]:
    """1 where a sentence equals one of its references, then 1 for the sentence itself."""
    lists = reference_lists(hypotheses, references)
    return np.array([[is_match(*pair), 1] for pair in zip(hypotheses, lists, strict=True)], dtype=float)


def share(total: Float[np.ndarray, "statistic"]) -> float:
    """The first count over the second: exact match, error rates."""
    return float(total[0] / total[1])


def _statistics(metric: Any, hypotheses: Sequence[str], references: References) -> Float[np.ndarray, "sentence count"]:
    streams = reference_streams(hypotheses, references)
    return np.array(metric._extract_corpus_statistics(list(hypotheses), streams), dtype=float)


def _score(metric: Any, total: Float[np.ndarray, "statistic"]) -> float:
    return float(metric._compute_score_from_stats([int(count) for count in total]).score)
