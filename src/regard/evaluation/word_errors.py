"""Word error rate by edit distance; for pronunciations, whose tokens are phones, the phone error rate."""

from collections.abc import Sequence

from regard.evaluation.references import References, reference_lists


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
