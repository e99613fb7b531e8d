"""Everything measured on one test set, as plain values."""

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass

from regard.alignment import Link, Links, score_alignment
from regard.evaluation.by_length import DEFAULT_EDGES, bins
from regard.evaluation.references import References, reference_lists
from regard.evaluation.scores import bleu, chrf, exact_match, ter
from regard.evaluation.word_errors import wer


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
    several = (("lengths", lengths), ("predicted", predicted), ("gold", gold), ("entropies", entropies))
    for name, given in several:
        if given is not None and len(given) != len(hypotheses):
            raise ValueError(f"{len(given)} {name} for {len(hypotheses)} hypotheses; give one for each sentence")
    signatures: dict[str, str] = {}

    def measure(members: Sequence[int]) -> _Measured:
        texts, truths = [hypotheses[one] for one in members], [lists[one] for one in members]
        words = bleu(texts, truths, tokenize=tokenize, lowercase=lowercase)
        characters = chrf(texts, truths, lowercase=lowercase)
        signatures.setdefault("bleu", words.signature)
        signatures.setdefault("chrf", characters.signature)
        right, edits = exact_match(texts, truths), _edits(texts, truths)
        return _Measured(
            words.score, characters.score, right, _aer(members, predicted, gold),
            1 - right if phones else edits, edits if phones else None, _mean(members, entropies),
        )  # fmt: skip

    whole = measure(range(len(hypotheses)))
    parts = []
    for each in [] if lengths is None else bins(lengths, edges):
        scores = asdict(measure(each.members)) if each.members else dict.fromkeys(asdict(whole))
        parts.append(LengthScores(each.shortest, each.longest, len(each.members), **scores))
    edit_rate = ter(hypotheses, lists, lowercase=lowercase) if with_ter else None
    if edit_rate is not None:
        signatures["ter"] = edit_rate.signature
    return Evaluation(
        sentences=len(hypotheses),
        signatures=signatures,
        by_length=tuple(parts),
        ter=None if edit_rate is None else edit_rate.score,
        references=max(len(each) for each in lists),
        **asdict(whole),
    )


@dataclass(frozen=True)
class _Measured:
    bleu: float
    chrf: float
    exact_match: float
    aer: float | None
    wer: float | None
    per: float | None
    entropy: float | None


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
