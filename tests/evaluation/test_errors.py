"""Word and phone error rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.evaluation import wer

words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join)


def edits(left: list[str], right: list[str]) -> int:
    """Levenshtein's table, row by row."""
    row = list(range(len(right) + 1))
    for one in left:
        above, row = row, [row[0] + 1]
        for index, other in enumerate(right):
            row.append(min(above[index + 1] + 1, row[index] + 1, above[index] + (one != other)))
    return row[-1]


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_edits_over_reference_words(pairs: list[tuple[str, str]]) -> None:
    hypotheses, wanted = [one for one, _ in pairs], [other for _, other in pairs]
    total = sum(edits(one.split(), other.split()) for one, other in pairs)
    assert wer(hypotheses, wanted) == pytest.approx(total / sum(len(other.split()) for other in wanted))
    assert wer(wanted, wanted) == 0.0


@given(words, st.lists(words, min_size=1, max_size=4))
def test_more_references_never_hurt_a_single_sentence(hypothesis: str, references: list[str]) -> None:
    rates = [wer([hypothesis], [one]) for one in references]
    assert wer([hypothesis], [references]) == min(rates)


def test_worked_by_hand() -> None:
    assert wer(["K AE T", "D AO G"], [["K AH T", "K AE T S"], "D AO G Z"]) == pytest.approx((1 + 1) / (4 + 4))
    assert wer([""], ["a b"]) == 1.0
    assert wer(["a b c d"], ["a"]) == 3.0, "a rate can exceed 1"
    assert wer(["x", "a"], ["", "a"]) == 1.0


def test_empty_references_raise() -> None:
    with pytest.raises(ValueError, match="all references are empty"):
        wer(["a"], [""])
    with pytest.raises(ValueError, match="list of hypotheses is empty"):
        wer([], [])
