"""What a wrong answer is told: named slips, two at once, properties of the answers, errors explained, the repair."""

from pathlib import Path

import numpy as np
import pytest

from regard.course.answer_parts import Leaf
from regard.course.attempt import load_attempt
from regard.course.catalogue import find
from regard.course.collection_relations import collection_relation
from regard.course.error_advice import advice_for
from regard.course.grade import grade
from regard.course.slips import declare
from regard.course.value_relations import value_relation
from regard.course.verdict import Verdict


def graded(exercise: str, code: str, folder: Path) -> Verdict:
    """The verdict on a learner's file, in this process: these files are ours."""
    path = folder / "exercise.py"
    path.write_text(f"import numpy as np\n\n\n{code}", encoding="utf-8")
    check = find(exercise).load()
    return grade(check, load_attempt(path, check.functions, check.reference))


def test_two_mistakes_at_once_are_both_named(tmp_path: Path) -> None:
    code = (
        "def additive_score(query, states, W_s, W_h, v):\n    return np.maximum(W_s @ query - states @ W_h.T, 0) @ v\n"
    )
    advice = graded("additive_score", code, tmp_path).advice
    assert "ReLU" in advice
    assert "subtracted" in advice


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("(np.tanh(W_s @ query + states @ W_h.T) @ v) * 3", "3 times the wanted one"),
        ("-(np.tanh(W_s @ query + states @ W_h.T) @ v)", "sign"),
        ("(np.tanh(W_s @ query + states @ W_h.T) @ v)[:, None]", "axis of size 1 too many"),
        ("(np.tanh(W_s @ query + states @ W_h.T) @ v)[::-1]", "reverse order along `source`"),
        ("(np.tanh(W_s @ query + states @ W_h.T) @ v)[:-1]", "missing at the end of `source`"),
        ("np.tanh(W_s @ np.ones_like(query) * 0.3 + states @ W_h.T) @ v", "do not depend on `query`"),
        ("np.tanh(W_s @ query + states @ W_h.T) @ v + 1", "differs by the same amount"),
        ("(np.tanh(W_s @ query + states @ W_h.T) @ v)[:1]", "does `return` stand inside the loop?"),
    ],
)
def test_properties_of_an_unnamed_mistake_are_reported(body: str, words: str, tmp_path: Path) -> None:
    code = f"def additive_score(query, states, W_s, W_h, v):\n    return {body}\n"
    verdict = graded("additive_score", code, tmp_path)
    assert verdict.mistake is None
    assert words in verdict.advice


def test_the_one_change_that_makes_it_right_is_named_with_its_line(tmp_path: Path) -> None:
    code = "def context_vectors(scores, states):\n    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    code += "    w = e / e.sum(axis=-1, keepdims=True) + 0.5 * len(states)\n    return w @ states\n"
    verdict = graded("context", code, tmp_path)
    assert "Line 6: without the part `+ 0.5 * len(states)`" in verdict.advice


def test_shapes_that_do_not_line_up_are_explained() -> None:
    with pytest.raises(ValueError, match="broadcast") as caught:
        np.zeros((2, 3)) - np.zeros(2)
    assert "keepdims=True" in advice_for(caught.value)


def test_a_slip_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text("def double(x):\n    return x * 2\n", encoding="utf-8")
    (tmp_path / "slips.toml").write_text('[a]\nmessage = "m"\nvariants = [[["x * 3", "x"]]]\n', encoding="utf-8")
    with pytest.raises(ValueError, match="has no 'x \\* 3'"):
        declare(str(tmp_path / "check.py"), reference={"double": lambda x: 2 * x}, families=())


def test_an_unstable_mask_does_not_pass(tmp_path: Path) -> None:
    code = (
        "def masked_softmax(scores, lengths):\n"
        "    s = np.where(np.arange(scores.shape[1]) < lengths[:, None], scores, -1e8)\n"
        "    e = np.exp(s - s.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)\n"
    )
    verdict = graded("masking", code, tmp_path)
    assert verdict.status == "unstable"
    assert "minus infinity" in verdict.advice


def test_editors_get_line_and_column(tmp_path: Path) -> None:
    raising = "def softmax(scores):\n    e = np.exp(scores)\n    return e / missing\n"
    verdict = graded("softmax", raising, tmp_path)
    assert (verdict.line, verdict.column) == (6, 16)
    assert "missing import" in verdict.advice
    wrong = graded("softmax", "def softmax(scores):\n    return scores * 2\n", tmp_path)
    assert (wrong.line, wrong.column) == (4, 0)


TORCH_STEP = """import torch


def decoder_step(cell, W_s, W_h, v, word, before, states, real):
    scores = torch.tanh((before @ W_s.T)[:, None] + states @ W_h.T) @ v
    weights = torch.softmax(scores.masked_fill(~real, float("-inf")), dim=-1)
    context = (weights[..., None] * states).sum(dim=1)
    after = cell(torch.cat([word, context], dim=-1), before)
    return after, context, weights
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(before @ W_s.T)", "((before * 0 + 0.3) @ W_s.T)", "do not depend on `before`"),
        (
            "(weights[..., None] * states)",
            "(weights[..., None] * states.mean(dim=0))",
            "sentences of a batch are mixed",
        ),
        ("scores.masked_fill", "torch.tensor(scores.numpy()).masked_fill", "NumPy cuts the gradient"),
    ],
)
def test_dependence_is_reported_part_by_part(old: str, new: str, words: str, tmp_path: Path) -> None:
    code = TORCH_STEP.replace(old, new)
    assert code != TORCH_STEP
    assert words in graded("decoder_step", code, tmp_path).advice


def test_a_list_of_words_is_not_taken_for_pairs_or_numbers() -> None:
    words = [(Leaf("words", "list", ["the", "bird", "cat"]), Leaf("words", "list", ["the", "bird", "the", "cat"]))]
    assert collection_relation(words) == [
        "Repeated entries are lost: a set holds each of them only once, and in no order."
    ]


def test_an_input_that_is_shown_has_one_right_answer(tmp_path: Path) -> None:
    """Rounded weights are no rows of attention any more: with ties, or no weight on any word, links are arbitrary."""
    entry = find("alignment")
    code = entry.solution.replace("links.add((int(row.argmax()), target))", "links.add((target, int(row.argmax())))")
    verdict = graded("alignment", code, tmp_path)
    assert verdict.mistake == "turned_round"
    assert "set()" not in str(verdict.details)


def test_a_step_for_each_column_of_padding(tmp_path: Path) -> None:
    entry = find("teacher_forcing")
    code = entry.solution.replace(
        "        words = targets[:, column]\n",
        "        words = targets[:, column]\n        if (words == PAD).all():\n            break\n",
    )
    assert code != entry.solution
    verdict = graded("teacher_forcing", code, tmp_path)
    assert verdict.status == "failed"
    assert "missing at the end of axis 1" in verdict.advice


SLIPS = (
    (
        "heatmap",
        "for place in weights.argmax(axis=1)",
        "for place in weights.argmax(axis=0)",
        "argmax over the wrong axis",
    ),
    (
        "teacher_forcing",
        "log_softmax(logits, dim=-1)",
        "log(torch.softmax(logits, dim=-1) + 1e-8)",
        "small number is added",
    ),
    (
        "forcing_ratio",
        "first + done * (last - first)",
        "max(last, first + update / updates * (last - first))",
        "Hold the",
    ),
    ("luong", "@ W_a.T) @ v", "@ W_a.T @ v)", "the tanh goes round the product with v"),
    ("local", "- centers[:, None]", "- centers.round()[:, None]", "round p_t to a whole position"),
    ("softmax", "/ exponentials.sum(", "/ np.exp(scores).sum(", "on one side of the division only"),
)


@pytest.mark.parametrize(("exercise", "old", "new", "words"), SLIPS, ids=lambda value: value[:12])
def test_slips_of_a_review_are_diagnosed(exercise: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    code = find(exercise).solution.replace(old, new)
    assert code != find(exercise).solution
    advice = graded(exercise, code, tmp_path).advice
    assert words in advice
    assert "depend on" not in advice


def test_a_new_axis_goes_round_the_whole_product(tmp_path: Path) -> None:
    code = "def additive_score(query, states, W_s, W_h, v):\n    return v @ np.tanh(W_s @ query + W_h @ states.T)\n"
    assert "`(W_s @ query)[:, None]` instead of `W_s @ query`" in graded("additive_score", code, tmp_path).advice


def test_numbers_that_are_almost_right_are_no_factor_of_1() -> None:
    wanted = np.array([0.2, 0.3, 0.5])
    assert not any("times" in one for one in value_relation([(wanted * 1.00001, wanted)] * 2, [{}, {}], ()))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("np.exp(scores) - scores.max(axis=-1, keepdims=True)", "belongs inside the parentheses"),
        ("np.exp(scores - scores.max(axis=0, keepdims=True)) / np.exp(scores).sum(axis=0, keepdims=True)", "axis"),
    ],
)
def test_a_repair_keeps_the_numbers_stable(body: str, words: str, tmp_path: Path) -> None:
    code = f"def softmax(scores):\n    e = {body}\n    return e / e.sum(axis=-1, keepdims=True)\n"
    assert words in graded("softmax", code, tmp_path).advice


def test_a_sum_that_is_overwritten_is_repaired(tmp_path: Path) -> None:
    code = (
        "def context_vectors(scores, states):\n    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
        "    out = np.zeros((len(scores), states.shape[1]))\n    for s in range(len(states)):\n"
        "        out = e[:, s : s + 1] / e.sum(axis=-1, keepdims=True) * states[s]\n    return out\n"
    )
    assert "add up, do not overwrite" in graded("context", code, tmp_path).advice


@pytest.mark.parametrize(
    ("mine", "words"),
    [([1], "does `return` stand inside the loop?"), ([], "empty"), ([1, 2], "missing at the end"), ([3], "last entry")],
)
def test_a_list_that_is_cut_short_is_not_taken_for_a_set(mine: list[int], words: str) -> None:
    pairs = [(Leaf("losses", "list", mine), Leaf("losses", "list", [1, 2, 3]))]
    assert words in collection_relation(pairs)[0]
