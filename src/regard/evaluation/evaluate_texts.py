"""Everything measured on one test set, as plain values: over all sentences, and by source length.

Scores by length show where a model without attention loses quality: in long sentences.
"""

from bisect import bisect_right
from collections.abc import Sequence, Set
from dataclasses import astuple, dataclass
from typing import Any

from regard.alignment import Link, Links, score_alignment
from regard.evaluation.scores import References, bleu, chrf, exact_match, reference_lists, ter, wer

DEFAULT_EDGES = (10, 20, 30, 40, 50, 60)
FIGURES = {
    "exact match": ("exact_match", ".1%"),
    "alignment error rate": ("aer", ".3f"),
    "BLEU": ("bleu", ".2f"),
    "chrF": ("chrf", ".2f"),
    "TER": ("ter", ".2f"),
    "phone error rate": ("per", ".2%"),
    "word error rate": ("wer", ".2%"),
    "entropy of attention": ("entropy", ".3f"),
}
"""By the name that people read: the field of an Evaluation, and its format."""


@dataclass(frozen=True)
class Bin:
    """Sentences of at least `shortest` and at most `longest` words (None: no upper end), by their numbers."""

    shortest: int
    longest: int | None
    members: tuple[int, ...]


@dataclass(frozen=True)
class LengthScores:
    """The scores of sentences whose source has `shortest` to `longest` words; None if there are none."""

    shortest: int
    longest: int | None
    sentences: int
    bleu: float | None
    chrf: float | None
    exact_match: float | None
    aer: float | None
    wer: float | None = None
    per: float | None = None
    entropy: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """BLEU, chrF and TER from 0 to 100, exact match, AER and error rates from 0 to 1, entropy in nats."""

    sentences: int
    bleu: float
    chrf: float
    exact_match: float
    aer: float | None
    """None if no gold links are known."""
    signatures: dict[str, str]
    by_length: tuple[LengthScores, ...] = ()
    ter: float | None = None
    wer: float | None = None
    """Edits over reference words; for pronunciations, the share of words with any wrong phone."""
    per: float | None = None
    """Edits over reference phones; None if the targets are not phones."""
    entropy: float | None = None
    """Entropy of attention in nats: the mean over the target words of all sentences; None if it is not
    known."""
    references: int = 1
    """Largest number of references of a sentence."""


def figures(scores: Evaluation) -> dict[str, str]:
    """Every figure of FIGURES that was measured, as text."""
    measured = {name: (getattr(scores, field), form) for name, (field, form) in FIGURES.items()}
    return {name: f"{value:{form}}" for name, (value, form) in measured.items() if value is not None}


def evaluate(
    hypotheses: Sequence[str],
    references: References,
    *,
    lengths: Sequence[int] | None = None,
    edges: Sequence[int] = DEFAULT_EDGES,
    predicted: Sequence[Set[Link]] | None = None,
    gold: Sequence[Links | None] | None = None,
    entropies: Sequence[Sequence[float]] | None = None,
    tokenize: str = "13a",
    lowercase: bool = False,
    phones: bool = False,
    with_ter: bool = False,
) -> Evaluation:
    """Scores a test set. `lengths` (source words of each sentence) adds the scores by length, in bins that start at
    `edges`; `predicted` with `gold` links adds AER, over the sentences whose gold has any; `entropies` (of each word
    that was written, sentence by sentence) their mean over words. With `phones` the targets are pronunciations: PER
    counts phones, WER counts words with any wrong phone. TER is slow.
    """
    lists = reference_lists(hypotheses, references)
    if (predicted is None) != (gold is None):
        raise ValueError("AER needs both predicted and gold links; give both or neither")
    for name, given in {"lengths": lengths, "predicted": predicted, "gold": gold, "entropies": entropies}.items():
        if given is not None and len(given) != len(hypotheses):
            raise ValueError(f"{len(given)} {name} for {len(hypotheses)} hypotheses; give one for each sentence")
    signatures: dict[str, str] = {}

    def measure(members: Sequence[int]) -> dict[str, Any]:
        texts, truths = [hypotheses[one] for one in members], [lists[one] for one in members]
        words = bleu(texts, truths, tokenize=tokenize, lowercase=lowercase)
        characters = chrf(texts, truths, lowercase=lowercase)
        signatures.setdefault("bleu", words.signature)
        signatures.setdefault("chrf", characters.signature)
        right, edits = exact_match(texts, truths), _edits(texts, truths)
        return {
            "bleu": words.score,
            "chrf": characters.score,
            "exact_match": right,
            "aer": _aer(members, predicted, gold),
            "wer": 1 - right if phones else edits,
            "per": edits if phones else None,
            "entropy": _mean(members, entropies),
        }

    whole = measure(range(len(hypotheses)))
    parts = []
    for each in [] if lengths is None else bins(lengths, edges):
        scores = measure(each.members) if each.members else dict.fromkeys(whole)
        parts.append(LengthScores(each.shortest, each.longest, len(each.members), **scores))
    edit_rate = None
    if with_ter:
        edit_rate, signatures["ter"] = astuple(ter(hypotheses, lists, lowercase=lowercase))
    return Evaluation(
        sentences=len(hypotheses),
        signatures=signatures,
        by_length=tuple(parts),
        ter=edit_rate,
        references=max(len(each) for each in lists),
        **whole,
    )


def bins(lengths: Sequence[int], edges: Sequence[int] = DEFAULT_EDGES) -> list[Bin]:
    """Each edge starts a new bin, so (10, 20) makes 0-9, 10-19 and 20 or more; no sentence falls outside.

    >>> [each.members for each in bins([3, 25, 10], edges=(10, 20))]
    [(0,), (2,), (1,)]
    """
    if list(edges) != sorted(set(edges)) or any(edge <= 0 for edge in edges):
        raise ValueError(f"bin edges must rise and be above 0, got {list(edges)}")
    if any(length < 0 for length in lengths):
        raise ValueError(f"lengths cannot be negative, got {min(lengths)}")
    members: list[list[int]] = [[] for _ in range(len(edges) + 1)]
    for number, length in enumerate(lengths):
        members[bisect_right(edges, length)].append(number)
    starts, ends = [0, *edges], [*(edge - 1 for edge in edges), None]
    return [Bin(start, end, tuple(each)) for start, end, each in zip(starts, ends, members, strict=True)]


def _edits(texts: Sequence[str], truths: References) -> float | None:
    """The error rate over tokens; None if no reference has any."""
    try:
        return wer(texts, truths)
    except ValueError:
        return None


def _mean(members: Sequence[int], values: Sequence[Sequence[float]] | None) -> float | None:
    known = [value for one in members for value in values[one]] if values is not None else []
    return sum(known) / len(known) if known else None


def _aer(
    members: Sequence[int], predicted: Sequence[Set[Link]] | None, gold: Sequence[Links | None] | None
) -> float | None:
    if predicted is None or gold is None:
        return None
    known = [(predicted[one], truth) for one in members if (truth := gold[one]) is not None and truth.possible]
    if not known:
        return None
    return score_alignment([links for links, _ in known], [truth for _, truth in known]).aer
