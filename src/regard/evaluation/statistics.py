"""Counts for each sentence that add up to corpus scores, so that resampling costs a matrix product."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from regard.evaluation.references import References, reference_lists
from regard.evaluation.scores import bleu_metric

_ORDER = 4
_CHARACTERS = 6
_BETA = 2.0


def bleu_statistics(
    hypotheses: Sequence[str], references: References, *, tokenize: str = "13a", lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """Matching and possible n-grams of orders 1 to 4, then the lengths of hypothesis and reference."""
    metric = bleu_metric(tokenize, lowercase)
    rows = []
    for hypothesis, each in zip(hypotheses, reference_lists(hypotheses, references), strict=True):
        score = metric.corpus_score([hypothesis], [[reference] for reference in each])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows, dtype=float)


def bleu_from(total: Float[np.ndarray, "statistic"]) -> float:
    """Corpus BLEU of summed statistics."""
    from sacrebleu.metrics.bleu import BLEU

    counts = [int(count) for count in total]
    matches, possible, (said, wanted) = counts[:_ORDER], counts[_ORDER : 2 * _ORDER], counts[2 * _ORDER :]
    return float(BLEU.compute_bleu(matches, possible, said, wanted, smooth_method="exp").score)


def chrf_statistics(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """For character orders 1 to 6, white space removed: n-grams of the hypothesis, of the reference, in both."""
    rows = []
    for hypothesis, each in zip(hypotheses, reference_lists(hypotheses, references), strict=True):
        said = _characters(hypothesis, lowercase)
        rivals = [_overlaps(said, _characters(reference, lowercase)) for reference in each]
        rows.append(max(rivals, key=chrf_from))
    return np.stack(rows)


def chrf_from(total: Float[np.ndarray, "statistic"]) -> float:
    """Corpus chrF of summed statistics: F2 of the mean precision and the mean recall over the orders that occur."""
    said, wanted, both = total.reshape(_CHARACTERS, 3).T
    occurs = (said > 0) & (wanted > 0)
    if not occurs.any() or not both.any():
        return 0.0
    precision, recall = (both[occurs] / said[occurs]).mean(), (both[occurs] / wanted[occurs]).mean()
    return float(100 * (1 + _BETA**2) * precision * recall / (_BETA**2 * precision + recall))


def match_statistics(hypotheses: Sequence[str], references: References) -> Float[np.ndarray, "sentence statistic"]:
    """1 where a sentence equals one of its references, then 1 for the sentence itself."""
    lists = reference_lists(hypotheses, references)
    right = [
        hypothesis.strip() in {reference.strip() for reference in each}
        for hypothesis, each in zip(hypotheses, lists, strict=True)
    ]
    return np.array([right, [True] * len(right)], dtype=float).T


def share(total: Float[np.ndarray, "statistic"]) -> float:
    """The first count over the second: exact match, error rates."""
    return float(total[0] / total[1])


def _characters(text: str, lowercase: bool) -> str:
    return "".join((text.lower() if lowercase else text).split())


def _overlaps(said: str, wanted: str) -> Float[np.ndarray, "statistic"]:
    counts = []
    for order in range(1, _CHARACTERS + 1):
        ours, theirs = (
            Counter(text[start : start + order] for start in range(len(text) - order + 1)) for text in (said, wanted)
        )
        # An order that the reference is too short for says nothing about the hypothesis.
        counts += [ours.total() if theirs else 0, theirs.total(), (ours & theirs).total()]
    return np.array(counts, dtype=float)
