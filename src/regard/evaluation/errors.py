"""Error rates by edit distance: WER over words, PER over phones."""

from collections.abc import Sequence

from regard.evaluation.references import References, reference_lists


def wer(hypotheses: Sequence[str], references: References) -> float:
    """Word error rate: edits over reference words, tokens being separated by white space; can exceed 1.

    Of several references the one with the lowest rate counts, the first of equals.
    """
    from rapidfuzz.distance import Levenshtein

    edits = words = 0
    for hypothesis, each in zip(hypotheses, reference_lists(hypotheses, references), strict=True):
        said = hypothesis.split()
        rivals = [(Levenshtein.distance(said, wanted), len(wanted)) for wanted in (one.split() for one in each)]
        # A reference without words cannot have a rate; it counts as if it had one word.
        best = min(rivals, key=lambda rival: rival[0] / max(rival[1], 1))
        edits, words = edits + best[0], words + best[1]
    if not words:
        raise ValueError("all references are empty, so there is no error rate; are source and target swapped?")
    return edits / words


def per(hypotheses: Sequence[str], references: References) -> float:
    """Phone error rate: the same over phones, given as tokens separated by white space ("K AE T").

    With pronunciations, "word error rate" means the share of words with any wrong phone: 1 - `exact_match`.
    (Not the position-independent error rate of translation, which shares the abbreviation.)
    """
    return wer(hypotheses, references)
