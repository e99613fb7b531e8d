"""The grader's parts: comparing, shrinking, showing, diagnosing; and that the self-check can fail."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy import ndarray
from numpy.random import Generator

from regard.course.answer_parts import Leaf
from regard.course.assertions import Broken, Check
from regard.course.attempt import Attempt
from regard.course.catalogue import ExerciseEntry, find
from regard.course.exercise import Arguments, Exercise, Family, Law, Mistake
from regard.course.grade import grade
from regard.course.outcome import Outcome, difference, same
from regard.course.selfcheck import mistake_problems, solution_problems, starter_problems, text_problems
from regard.course.show import yours_and_wanted
from regard.course.verdict import Verdict
from regard.course.verdict_text import Paint, plain, verdict_lines


def outcome(answer: object) -> Outcome:
    return Outcome(answer)


@pytest.mark.parametrize(
    ("yours", "wanted", "kind"),
    [
        (np.zeros((1, 3)), np.zeros(3), "shape"),
        (np.zeros(()), np.zeros(1), "shape"),
        (np.zeros(3, dtype=int), np.zeros(3), "dtype"),
        (["a", "b"], np.zeros(2), "type"),
        ((np.zeros(2), np.zeros(2)), np.zeros((2, 2)), "type"),
        ([(0, 1)], {(0, 1)}, "type"),
        (None, np.zeros(2), "type"),
        ((np.zeros(2),), (np.zeros(2), np.zeros(2)), "type"),
        (np.zeros(2), (np.zeros(2), np.zeros(2)), "type"),
        (np.array([0.0, np.nan]), np.zeros(2), "value"),
        (np.array([0.0, 1e-6]), np.zeros(2), "value"),
        ({"a": 1}, {"a": 2}, "value"),
        ("chat", "chien", "value"),
        ([1, 2], [2, 1], "value"),
    ],
)
def test_nothing_is_broadcast_or_cast(yours: object, wanted: object, kind: str) -> None:
    found = difference(outcome(yours), outcome(wanted))
    assert found is not None
    assert found.kind == kind


def test_a_missing_return_is_suspected_only_where_the_whole_answer_is_none() -> None:
    whole = difference(outcome(None), outcome(np.zeros(2)))
    part = difference(outcome((None, 1)), outcome((np.zeros(2), 1)))
    text = difference(outcome("is None: did you forget `return`?"), outcome("chat"))
    assert [one is not None and one.missing_return for one in (whole, part, text)] == [True, False, False]


@pytest.mark.parametrize(
    "answer", [np.zeros(2), 3, 3.5, np.float64(2), "x", [1, 2], {"a": np.ones(1)}, (1, np.ones(2)), True]
)
def test_equal_answers_are_equal(answer: object) -> None:
    assert difference(outcome(answer), outcome(answer)) is None


@pytest.mark.parametrize(
    ("yours", "wanted"),
    [
        ([0.5, np.float64(1)], np.array([0.5, 1.0])),
        ([np.zeros(2), np.ones(2)], np.array([[0.0, 0.0], [1.0, 1.0]])),
        (np.array([0.1, 0.2], dtype=np.float32), np.array([0.1, 0.2])),
        ([np.zeros(2), 1.0], (np.zeros(2), 1.0)),
        ([(np.int64(1), 2)], [(1, 2)]),
        (np.array(["a", "b"]), ["a", "b"]),
        ([np.str_("a")], ["a"]),
        (frozenset({(np.int64(1), 2)}), {(1, 2)}),
        (np.array(0.5), 0.5),
    ],
)
def test_right_answers_in_another_type_are_right(yours: object, wanted: object) -> None:
    assert difference(outcome(yours), outcome(wanted)) is None


def test_only_the_same_error_is_alike_and_nan_equals_nan() -> None:
    failed = Outcome(error=ValueError("3 and 4"))
    assert same(failed, Outcome(error=ValueError("3 and 4")))
    assert not same(failed, Outcome(error=TypeError("3 and 4")))
    assert not same(failed, Outcome(error=ValueError("4 and 4")))
    assert not same(failed, outcome(1))
    assert same(outcome(np.array([np.nan, np.inf])), outcome(np.array([np.nan, np.inf])))


def test_numbers_are_drawn_with_bars_and_marks() -> None:
    lines = yours_and_wanted(
        Leaf("", "NumPy array", np.array([0.25, 0.75, 0.0])), Leaf("", "NumPy array", np.array([0.25, 0.25, np.nan]))
    )
    assert lines[0].startswith("yours ")
    assert lines[0].endswith("▃█▁")
    assert lines[1].endswith("▃▃?")
    assert lines[2].count("^") == 2


def test_plain_values_are_shown_without_their_numpy_type_and_with_digits_that_differ() -> None:
    links = Leaf("links", "set", {(np.int64(0), 0)}), Leaf("links", "set", {(1, 0)})
    assert yours_and_wanted(*links) == ["yours   {(0, 0)}", "wanted  {(1, 0)}"]
    assert yours_and_wanted(Leaf("ratio", "number", 0.1 + 0.2), Leaf("ratio", "number", 0.5)) == [
        "yours   0.3",
        "wanted  0.5",
    ]
    close = yours_and_wanted(Leaf("ratio", "number", 0.30000001), Leaf("ratio", "number", 0.3))
    assert close == ["yours   0.30000001", "wanted  0.3"]


def test_of_a_large_array_the_worst_row_is_shown() -> None:
    wanted = np.zeros((5, 4, 20))
    yours = wanted.copy()
    yours[3, 1, 17] = 9
    lines = yours_and_wanted(Leaf("", "NumPy array", yours), Leaf("", "NumPy array", wanted))
    assert "[3, 1]" in lines[0]
    assert "…" in lines[0]
    assert " 9 " in lines[0]
    assert len(lines) == 3


def doubled(values: ndarray) -> ndarray:
    return values * 2


def any_values(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"values": random.normal(size=(sizes["row"], sizes["column"]))}


def positive(attempt: Attempt, check: Check, random: Generator) -> None:
    check.that(float(attempt.doubled(np.ones(1))[0]) > 0, "Twice one is not positive.")


TOY = Exercise(
    reference={"doubled": doubled},
    families=(Family("any values", any_values, {"row": (1, 4), "column": (1, 6)}),),
    laws=(Law("positive", "twice one is positive", positive),),
    mistakes=(
        Mistake("squared", "You squared.", ({"doubled": lambda values: values**2},)),
        Mistake("halved", "You halved.", ({"doubled": lambda values: values / 2},)),
    ),
)


def test_a_wrong_answer_is_shrunk_to_the_smallest_input() -> None:
    def wrong_from_three_columns(values: ndarray) -> ndarray:
        return values * 2 if values.shape[1] < 3 else values * 3

    verdict = grade(TOY, Attempt({"doubled": wrong_from_three_columns}))
    assert verdict.status == "failed"
    assert len(verdict.details[0].split()) == 4  # one row of three numbers, and the name
    assert all("." not in part for part in verdict.details[0].split()[1:])  # whole numbers
    assert verdict.mistake is None


def test_a_wrong_shape_is_shown_where_its_axes_can_be_told_apart() -> None:
    scores = find("2").load()

    def forgets_v(query: ndarray, states: ndarray, W_s: ndarray, W_h: ndarray, v: ndarray) -> ndarray:
        return np.asarray(np.tanh(W_s @ query + states @ W_h.T))

    verdict = grade(scores, Attempt({"additive_score": forgets_v}))
    assert verdict.headline == "Scores: shape [2, 2], wanted [2]."


def test_the_diagnosis_needs_every_input_to_agree() -> None:
    assert grade(TOY, Attempt({"doubled": lambda values: values**2})).advice == "You squared."
    assert grade(TOY, Attempt({"doubled": lambda values: values * 0.5})).mistake == "halved"
    sometimes = Attempt({"doubled": lambda values: values**2 if values.shape[0] > 1 else values * 7})
    assert grade(TOY, sometimes).mistake is None


def test_another_error_is_no_evidence_for_a_mistake() -> None:
    def raising(values: ndarray) -> ndarray:
        raise ValueError("no")

    def raising_otherwise(values: ndarray) -> ndarray:
        raise ValueError("never")

    exercise = replace(TOY, mistakes=(Mistake("raises", "You raised.", ({"doubled": raising_otherwise},)),))
    assert grade(exercise, Attempt({"doubled": raising_otherwise})).mistake == "raises"
    verdict = grade(exercise, Attempt({"doubled": raising}))
    assert verdict.status == "broken"
    assert verdict.mistake is None
    assert "doubled() raised ValueError: no" in verdict.headline


def test_writing_into_an_argument_is_reported() -> None:
    def in_place(values: ndarray) -> ndarray:
        values *= 2
        return values

    verdict = grade(TOY, Attempt({"doubled": in_place}))
    assert verdict.kind == "changed"
    assert "wrote into its argument `values`" in verdict.headline


def test_the_early_verdict_comes_before_the_diagnosis() -> None:
    heard: list[Verdict] = []
    final = grade(TOY, Attempt({"doubled": lambda values: values**2}), tell=heard.append)
    assert [one.mistake for one in heard] == [None]
    assert final.mistake == "squared"


def test_the_self_check_can_fail() -> None:
    """Break an exercise in each way that the self-check looks for."""
    assert list(mistake_problems(TOY)) == []
    harmless = replace(TOY, mistakes=(Mistake("none", "You did nothing wrong.", ({"doubled": doubled},)),))
    assert "passes" in next(mistake_problems(harmless))
    twins = replace(
        TOY, mistakes=(*TOY.mistakes, Mistake("square", "You squared!", ({"doubled": lambda values: values**2},)))
    )
    assert "is taken for squared" in next(mistake_problems(twins))
    assert "no named mistakes" in next(mistake_problems(replace(TOY, mistakes=())))
    softmax = find("softmax")
    checks = softmax.load()
    idle = replace(checks, laws=(Law("idle", "asserts nothing", lambda attempt, check, random: None),))
    assert list(solution_problems(softmax, idle)) == ["'idle' asserted nothing"]
    wrong = replace(checks, alternatives=({"softmax": lambda scores: scores},))
    assert "alternative 1 is failed" in next(solution_problems(softmax, wrong))
    strict = replace(checks, reference={"softmax": lambda scores: scores})
    assert "the solution is failed" in next(solution_problems(softmax, strict))


def test_the_self_check_reads_the_texts(tmp_path: Path) -> None:
    (tmp_path / "exercise.py.txt").write_text("def softmax(scores):\n    return scores\n")
    (tmp_path / "README.md").write_text("# 1 · Something else\n[a picture](missing.png)\n")
    (tmp_path / "hint.md").write_text("## Nudge\n\nshort\n")
    broken = replace(find("softmax"), home=tmp_path)
    found = " ".join(text_problems(broken))
    missing = ("hint.md must have", "begin with", "no **The idea.**", "no **Try this.**", "no picture", "no equation")
    assert [part for part in (*missing, "leads nowhere") if part not in found] == []
    assert "wanted unfinished" in next(starter_problems(broken, find("softmax").load()))


def test_a_law_that_breaks_shows_what_it_saw() -> None:
    check = Check()
    with pytest.raises(Broken, match="changed the weights") as broken:
        check.same(np.array([1.0]), np.array([2.0]), "Padding changed the weights.", labels="padded/alone")
    assert broken.value.details[0].startswith("padded")
    assert broken.value.details[1].startswith("alone")
    assert check.count == 1
    with pytest.raises(Broken):
        check.slope(lambda x: float((x**2).sum()), np.ones(2), np.ones(2), "wrong slope")
    check.slope(lambda x: float((x**2).sum()), np.ones(2), 2 * np.ones(2), "wrong slope")


def test_gradients_are_compared_and_a_cut_graph_is_reported() -> None:
    torch = pytest.importorskip("torch")
    inputs = {"x": torch.ones(2, dtype=torch.float64)}
    Check().gradients(lambda x: x * 2, lambda x: x + x, inputs)
    with pytest.raises(Broken, match="gradient of `x` is not"):
        Check().gradients(lambda x: x * 3, lambda x: x + x, inputs)
    with pytest.raises(Broken, match="No gradient leaves"):
        Check().gradients(lambda x: x.detach() * 2, lambda x: x + x, inputs)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_report_fits_its_terminal(softmax_entry: ExerciseEntry, width: int) -> None:
    verdict = Verdict("failed", "word " * 40, ("9" * 300,), "value", "a check", "m", "advice " * 40, printed="y" * 500)
    for line in verdict_lines(softmax_entry, verdict, Paint(False), width):
        assert len(line) <= max(width, 27)  # a title is never cut


def test_what_a_file_prints_cannot_move_the_cursor(softmax_entry: ExerciseEntry) -> None:
    noisy = "\x1b[31mred\x1b[2J \x1b]0;title\x07over\rwritten\tand\a rung\x9b5m \u202ereversed"
    verdict = Verdict("broken", noisy, (noisy,), check=noisy, advice=noisy, printed=noisy, notes=(noisy,))
    text = "\n".join(verdict_lines(softmax_entry, verdict, Paint(colour=False)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert text.count("red over") == 6
    assert text.count("reversed") == 6


def test_signs_become_ascii_where_they_must() -> None:
    assert plain(["✓ ░█ → …"], "ascii") == "v -# > ."
    assert plain(["✓ é"], "utf-8") == "✓ é"
