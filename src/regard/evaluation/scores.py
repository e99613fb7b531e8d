"""BLEU, chrF and TER as sacrebleu computes them, exact match, word error rate; and counts that add up to scores.

Counts for each sentence make resampling a matrix product: sacrebleu counts, and sacrebleu computes the score from the
sum, as its own significance tests do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.suggest import suggest

References = Sequence[str | Sequence[str]]
"""For each sentence its reference, or its several references."""


@dataclass(frozen=True)
class CorpusScore:
    """A score from 0 to 100 and how it was computed."""

    score: float
    signature: str


def bleu(
    hypotheses: Sequence[str], references: References, *, tokenize: str = "13a", lowercase: bool = False
) -> CorpusScore:
    """Corpus BLEU; for text that is tokenised already (Multi30k's protocol): tokenize="none", lowercase=True."""
    return _corpus_score(bleu_metric(tokenize, lowercase), hypotheses, references)


def chrf(hypotheses: Sequence[str], references: References, *, lowercase: bool = False) -> CorpusScore:
    """Corpus chrF, which needs no tokenisation and so suits every script."""
    return _corpus_score(chrf_metric(lowercase), hypotheses, references)


def ter(hypotheses: Sequence[str], references: References, *, lowercase: bool = False) -> CorpusScore:
    """Translation Edit Rate in per cent, as sacrebleu gives it: 0 is best, and bad output can exceed 100."""
    from sacrebleu.metrics.ter import TER

    return _corpus_score(TER(case_sensitive=not lowercase), hypotheses, references, inf)


def exact_match(hypotheses: Sequence[str], references: References) -> float:
    """The share of sentences, 0 to 1, that equal one of their references but for white space at the ends."""
    return share(match_statistics(hypotheses, references).sum(axis=0))


def wer(hypotheses: Sequence[str], references: References) -> float:
    """Edits over reference tokens, which white space separates ("the cat", "K AE T"); can exceed 1.

    Of several references the one with the lowest rate counts, the first of equals. With pronunciations, "word error
    rate" means the share of words with any wrong phone: 1 - `exact_match`.
    """
    from rapidfuzz.distance import Levenshtein

    edits = words = 0
    for hypothesis, each in zip(hypotheses, reference_lists(hypotheses, references), strict=True):
        tokens = hypothesis.split()
        rates = [(Levenshtein.distance(tokens, wanted), len(wanted)) for wanted in (one.split() for one in each)]
        # A reference without words cannot have a rate; it counts as if it had one word.
        best = min(rates, key=lambda rate: rate[0] / max(rate[1], 1))
        edits, words = edits + best[0], words + best[1]
    if not words:
        raise ValueError("all references are empty, so there is no error rate; are source and target swapped?")
    return edits / words


def bleu_statistics(
    hypotheses: Sequence[str], references: References, *, tokenize: str = "13a", lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """Lengths of hypothesis and reference, then matching and possible n-grams of orders 1 to 4."""
    return _statistics(bleu_metric(tokenize, lowercase), hypotheses, references)


def bleu_from(total: Float[np.ndarray, "statistic"]) -> float:
    return _score(bleu_metric("none", False), total)


def chrf_statistics(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = False
) -> Float[np.ndarray, "sentence statistic"]:
    """For character orders 1 to 6: n-grams of the hypothesis, of the reference, in both."""
    return _statistics(chrf_metric(lowercase), hypotheses, references)


def chrf_from(total: Float[np.ndarray, "statistic"]) -> float:
    return _score(chrf_metric(), total)


def match_statistics(hypotheses: Sequence[str], references: References) -> Float[np.ndarray, "sentence statistic"]:
    """1 where a sentence equals one of its references but for white space at the ends, then 1 for the sentence."""
    pairs = zip(hypotheses, reference_lists(hypotheses, references), strict=True)
    return np.array([[text.strip() in {one.strip() for one in each}, 1] for text, each in pairs], dtype=float)


def share(total: Float[np.ndarray, "statistic"]) -> float:
    """The first count over the second: exact match, error rates."""
    return float(total[0] / total[1])


def reference_lists(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """Every sentence's references as a list; raises if a sentence has none."""
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise ValueError("one string was given where a list of sentences is expected; put it into a list")
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references; give one for each sentence")
    if not hypotheses:
        raise ValueError("no sentences to score: the list of hypotheses is empty")
    lists = [[each] if isinstance(each, str) else list(each) for each in references]
    for number, each in enumerate(lists):
        if not each:
            raise ValueError(
                f"sentence {number} (0-based) has no reference; give at least one, or leave the sentence out"
            )
    return lists


def reference_streams(hypotheses: Sequence[str], references: References) -> list[list[str | None]]:
    """As sacrebleu takes them: all first references, then all second ones, None if a sentence has no more."""
    lists = reference_lists(hypotheses, references)
    most = max(len(each) for each in lists)
    return [[each[index] if index < len(each) else None for each in lists] for index in range(most)]


def bleu_metric(tokenize: str, lowercase: bool) -> Any:
    """sacrebleu's BLEU; `force` only silences its remark about text that looks tokenised."""
    from sacrebleu.metrics.bleu import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"sacrebleu has no tokenizer '{tokenize}': {suggest(tokenize, BLEU.TOKENIZERS)}")
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def chrf_metric(lowercase: bool = False) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=lowercase)


def _corpus_score(metric: Any, hypotheses: Sequence[str], references: References, most: float = 100.0) -> CorpusScore:
    """The score, which rounding never takes above `most`: sacrebleu's BLEU of equal texts is 100.00000000000004."""
    score = metric.corpus_score(list(hypotheses), reference_streams(hypotheses, references)).score
    return CorpusScore(min(float(score), most), str(metric.get_signature()))


def _statistics(metric: Any, hypotheses: Sequence[str], references: References) -> Float[np.ndarray, "sentence count"]:
    streams = reference_streams(hypotheses, references)
    return np.array(metric._extract_corpus_statistics(list(hypotheses), streams), dtype=float)


def _score(metric: Any, total: Float[np.ndarray, "statistic"]) -> float:
    return float(metric._compute_score_from_stats([int(count) for count in total]).score)
