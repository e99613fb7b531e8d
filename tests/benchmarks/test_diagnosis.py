"""The corpus of learners' files is complete and fair, and the script that grades it counts truly."""

from collections import Counter
from dataclasses import replace

import pytest

from diagnosis import (
    HALVES,
    LATER,
    SECOND,
    Sample,
    count,
    grade,
    outcome,
    read_corpus,
    read_sample,
    record,
    report,
    statements,
)
from regard.course.catalogue import entries
from regard.course.verdict import Verdict

SAMPLES = read_corpus()
SECOND_SAMPLES = read_corpus(SECOND)
UNSPECIFIC = (
    "Weights: wrong values.",
    "The new state: wrong values.",
    "Scores: shape [2, 3], wanted [2].",
    "Lengths: wrong.",
    "Your answer differs from what is wanted.",
    "decode() raised ValueError: operands could not be broadcast together with shapes (2,3) (2,)",
    "encode() raised RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at dimension 1",
)
"""What a grader says that found an error and no cause."""


def sample(exercise: str, name: str) -> Sample:
    return next(one for one in SAMPLES if (one.exercise, one.name) == (exercise, name))


def test_the_corpus_is_large_and_covers_both_halves_of_every_exercise() -> None:
    verdicts = Counter(one.verdict for one in SAMPLES)
    assert verdicts["wrong"] + verdicts["unstable"] >= 250
    assert verdicts["right"] >= 60
    mistakes = Counter((one.exercise, one.half) for one in SAMPLES if one.verdict != "right")
    covered = {entry.home.name for entry in entries()}
    assert all(mistakes[exercise, half] >= 5 for exercise in covered - set(LATER) for half in HALVES)
    assert all(mistakes[exercise, "later"] >= 10 for exercise in LATER)
    assert {one.exercise for one in SAMPLES} == covered


def test_the_second_corpus_covers_every_exercise() -> None:
    assert {one.half for one in SECOND_SAMPLES} == {"second"}
    counts = Counter((one.exercise, one.verdict == "right") for one in SECOND_SAMPLES)
    for exercise in (entry.home.name for entry in entries()):
        assert counts[exercise, False] >= 8
        assert counts[exercise, True] >= 2


def test_every_file_has_its_own_code() -> None:
    both = [*SAMPLES, *SECOND_SAMPLES]
    assert len({(one.exercise, one.code) for one in both}) == len(both)


@pytest.mark.parametrize("text", UNSPECIFIC)
def test_an_unspecific_statement_is_not_a_diagnosis(text: str) -> None:
    mistakes = [one for one in (*SAMPLES, *SECOND_SAMPLES) if one.verdict != "right"]
    assert {outcome(one, Verdict("failed", text)) for one in mistakes} == {"missed"}


def test_a_file_without_header_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "bare.py.txt"
    path.write_text("def softmax(scores): ...\n")
    with pytest.raises(ValueError, match=r"bare\.py\.txt must start with the comments"):
        read_sample(path)


def test_the_real_grader_judges_a_mistake_and_a_right_answer() -> None:
    wrong, right = sample("e04_context", "no_softmax"), sample("e04_context", "einsum")
    verdict = grade(wrong)
    assert verdict.status == "failed"
    assert outcome(wrong, verdict) == "diagnosed"
    assert outcome(right, grade(right)) == "passed"


def test_each_outcome() -> None:
    one = Sample("e01_softmax", "a", "wrong", "", "keepdims", "")
    assert outcome(one, Verdict("passed", "keepdims")) == "accepted"
    assert outcome(one, Verdict("failed", "wrong values", details=("x.sum(keepdims=True)",))) == "missed"
    assert outcome(one, Verdict("failed", "wrong values", advice="Use KEEPDIMS.")) == "diagnosed"
    assert outcome(replace(one, verdict="right"), Verdict("failed", "keepdims")) == "refused"
    assert "padding" in statements(Verdict("failed", "", details=("law: padding gets 0", "x = [1]")))


def test_faults_of_the_held_out_half_and_of_the_second_corpus_stay_unnamed() -> None:
    missed = [record(one, Verdict("failed", "wrong values")) for one in SAMPLES if one.verdict != "right"]
    result = report(missed, list_held_out=False)
    assert {one["half"] for one in result["faults"]} == {"seen", "later"}
    assert result["halves"]["held-out"]["missed"] > 0
    assert {one["half"] for one in report(missed, list_held_out=True)["faults"]} == {*HALVES, "later"}
    unnamed = [record(one, Verdict("failed", "wrong values")) for one in SECOND_SAMPLES]
    assert report(unnamed, list_held_out=False)["faults"] == []
    assert count([{"outcome": "diagnosed"}, {"outcome": "accepted"}, {"outcome": "passed"}])["share"] == 0.5
