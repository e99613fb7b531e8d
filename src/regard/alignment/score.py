"""Alignment Error Rate, precision and recall over a corpus."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from regard.alignment.links import Link, Links


@dataclass(frozen=True)
class AlignmentScore:
    """Fractions from 0 to 1, over all links of the corpus together."""

    aer: float
    precision: float
    recall: float
    sentences: int
    predicted: int
    """Links that were predicted."""
    sure: int
    """Sure links of the gold alignment."""


def score_alignment(predicted: Sequence[Set[Link]], gold: Sequence[Links]) -> AlignmentScore:
    """Predicted links A against sure links S and possible links P ⊇ S (Och & Ney 2003, §6).

    AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|),  precision = |A∩P| / |A|,  recall = |A∩S| / |S|

    Precision is 1 if nothing was predicted, recall is 1 if there are no sure links.
    """
    if len(predicted) != len(gold):
        raise ValueError(
            f"{len(predicted)} predicted alignments against {len(gold)} gold ones; give one for each sentence"
        )
    if not gold:
        raise ValueError("no sentences to score: the gold alignment is empty")
    links = sum(len(each) for each in predicted)
    sure = sum(len(each.sure) for each in gold)
    hit_sure = sum(len(each & truth.sure) for each, truth in zip(predicted, gold, strict=True))
    hit_possible = sum(len(each & truth.possible) for each, truth in zip(predicted, gold, strict=True))
    return AlignmentScore(
        aer=1 - (hit_sure + hit_possible) / (links + sure) if links + sure else 0.0,
        precision=hit_possible / links if links else 1.0,
        recall=hit_sure / sure if sure else 1.0,
        sentences=len(gold),
        predicted=links,
        sure=sure,
    )
