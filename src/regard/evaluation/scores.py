"""BLEU, chrF and TER as sacrebleu computes them, with the signature that makes them comparable; exact match."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from regard.evaluation.references import References, reference_lists, reference_streams
from regard.suggest import suggest


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


def chrf(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = False, word_order: int = 0
) -> CorpusScore:
    """Corpus chrF, which needs no tokenisation and so suits every script; word_order=2 is chrF++."""
    return _corpus_score(chrf_metric(lowercase, word_order), hypotheses, references)


def ter(hypotheses: Sequence[str], references: References, *, lowercase: bool = False) -> CorpusScore:
    """Translation Edit Rate in per cent, as sacrebleu gives it: 0 is best, and bad output can exceed 100."""
    from sacrebleu.metrics.ter import TER

    return _corpus_score(TER(case_sensitive=not lowercase), hypotheses, references, inf)


def exact_match(hypotheses: Sequence[str], references: References) -> float:
    """The share of sentences, 0 to 1, that equal one of their references but for white space at the ends."""
    lists = reference_lists(hypotheses, references)
    return sum(is_match(*pair) for pair in zip(hypotheses, lists, strict=True)) / len(hypotheses)


def is_match(hypothesis: str, references: Sequence[str]) -> bool:
    """Whether a sentence equals one of its references but for white space at the ends."""
    return hypothesis.strip() in {reference.strip() for reference in references}


def bleu_metric(tokenize: str, lowercase: bool) -> Any:
    """sacrebleu's BLEU; `force` only silences its remark about text that looks tokenised."""
    from sacrebleu.metrics.bleu import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"sacrebleu has no tokenizer '{tokenize}': {suggest(tokenize, BLEU.TOKENIZERS)}")
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def chrf_metric(lowercase: bool = False, word_order: int = 0) -> Any:
    """sacrebleu's chrF."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=lowercase, word_order=word_order)


def _corpus_score(metric: Any, hypotheses: Sequence[str], references: References, most: float = 100.0) -> CorpusScore:
    """The score, which rounding never takes above `most`: sacrebleu's BLEU of equal texts is 100.00000000000004."""
    score = metric.corpus_score(list(hypotheses), reference_streams(hypotheses, references)).score
    return CorpusScore(min(float(score), most), str(metric.get_signature()))
