"""Everything measured on one test set, as plain values that survive a JSON file."""

import json
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass

from regard.alignment import Link, Links, score_alignment
from regard.evaluation.by_length import DEFAULT_EDGES, bins
from regard.evaluation.references import References, reference_lists
from regard.evaluation.scores import bleu, chrf, exact_match


@dataclass(frozen=True)
class LengthScores:
    """The scores of sentences whose source has `shortest` to `longest` words; None where there are none."""

    shortest: int
    longest: int | None
    sentences: int
    bleu: float | None
    chrf: float | None
    exact_match: float | None
    aer: float | None


@dataclass(frozen=True)
class Evaluation:
    """BLEU and chrF from 0 to 100, exact match and AER from 0 to 1."""

    sentences: int
    bleu: float
    chrf: float
    exact_match: float
    aer: float | None
    """None where no gold links are known."""
    signatures: dict[str, str]
    by_length: tuple[LengthScores, ...] = ()

    def json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str) -> "Evaluation":
        """Reads what `json` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "by_length": tuple(LengthScores(**each) for each in fields["by_length"])})


def evaluate(
    hypotheses: Sequence[str],
    references: References,
    *,
    lengths: Sequence[int] | None = None,
    edges: Sequence[int] = DEFAULT_EDGES,
    predicted: Sequence[Set[Link]] | None = None,
    gold: Sequence[Links | None] | None = None,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Evaluation:
    """Scores a test set. `lengths` (source words of each sentence) adds the scores by length, in bins that start at
    `edges`; `predicted` with `gold` links adds AER, over the sentences whose gold is known.
    """
    lists = reference_lists(hypotheses, references)
    if (predicted is None) != (gold is None):
        raise ValueError("AER needs both predicted and gold links; give both or neither")
    for name, given in (("lengths", lengths), ("predicted", predicted), ("gold", gold)):
        if given is not None and len(given) != len(hypotheses):
            raise ValueError(f"{len(given)} {name} for {len(hypotheses)} hypotheses; give one for each sentence")
    signatures: dict[str, str] = {}

    def measure(members: Sequence[int]) -> _Measured:
        texts, truths = [hypotheses[one] for one in members], [lists[one] for one in members]
        words = bleu(texts, truths, tokenize=tokenize, lowercase=lowercase)
        characters = chrf(texts, truths, lowercase=lowercase)
        signatures.setdefault("bleu", words.signature)
        signatures.setdefault("chrf", characters.signature)
        aer = _aer(members, predicted, gold)
        return _Measured(words.score, characters.score, exact_match(texts, truths), aer)

    whole = measure(range(len(hypotheses)))
    parts = []
    for each in [] if lengths is None else bins(lengths, edges):
        scores = asdict(measure(each.members)) if each.members else dict.fromkeys(asdict(whole))
        parts.append(LengthScores(each.shortest, each.longest, len(each.members), **scores))
    return Evaluation(
        sentences=len(hypotheses),
        bleu=whole.bleu,
        chrf=whole.chrf,
        exact_match=whole.exact_match,
        aer=whole.aer,
        signatures=signatures,
        by_length=tuple(parts),
    )


@dataclass(frozen=True)
class _Measured:
    bleu: float
    chrf: float
    exact_match: float
    aer: float | None


def _aer(
    members: Sequence[int], predicted: Sequence[Set[Link]] | None, gold: Sequence[Links | None] | None
) -> float | None:
    if predicted is None or gold is None:
        return None
    known = [(predicted[one], truth) for one in members if (truth := gold[one]) is not None]
    if not known:
        return None
    return score_alignment([links for links, _ in known], [truth for _, truth in known]).aer
