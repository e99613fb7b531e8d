"""Repairs after the second corpus: no impossible or shortened answers, lists and sets explained, causes named."""

from pathlib import Path

import pytest

from regard.course.answer_parts import Leaf
from regard.course.attempt import load_attempt
from regard.course.catalogue import find
from regard.course.collection_relations import collection_relation
from regard.course.grade import grade
from regard.course.return_paths import FORGOTTEN, why_none
from regard.course.verdict import Verdict

LOOP = "    for one in x:\n        if one:\n            return 1\n"


def graded(exercise: str, code: str, folder: Path) -> Verdict:
    """The verdict on a learner's file, in this process: these files are ours."""
    path = folder / "exercise.py"
    path.write_text(code, encoding="utf-8")
    check = find(exercise).load()
    return grade(check, load_attempt(path, check.functions, check.reference))


CHANGES = (
    ("packing", ", total_length=embedded.shape[1]", "", "total_length=embedded.shape[1]"),
    ("bidirectional", ", total_length=embedded.shape[1]", "", "total_length=embedded.shape[1]"),
    ("beam", "            if value > -np.inf\n", "", "impossible sentences come out"),
    ("alignment", "predicted & sure", "predicted and sure", "A ∩ S is written A & S"),
    ("alignment", "(len(predicted) + len(sure))", "len(predicted | sure)", "|A| + |S|"),
    ("bottleneck", "real.sum(dim=1) - 1", "real.sum(dim=1).clamp(max=real.shape[1] - 1)", "Off by one"),
    ("bottleneck", "real.sum(dim=1) - 1", "(real[:1].sum(dim=1) - 1).expand(len(real))", "its own last word"),
    (
        "whole_model",
        ".squeeze(-1)\n    weights = scores.masked_fill(~real, -torch.inf)",
        "\n    weights = scores.masked_fill(~real[..., None], -1e9)",
        "Every weight is 1",
    ),
    ("forcing_ratio", "update / updates", "update / max(updates - 1, 1)", "one update too early"),
    ("heatmap", "source[place] for place in weights.argmax(axis=1)", "max(row) for row in weights", "argmax"),
    ("softmax", "    exp", "    scores = np.float32(scores)\n    exp", "float32, wanted is float64"),
)


@pytest.mark.parametrize(("exercise", "old", "new", "words"), CHANGES)
def test_causes_are_named(exercise: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    code = find(exercise).solution.replace(old, new)
    assert code != find(exercise).solution
    if exercise == "whole_model":
        code = code.replace("(weights[:, :, None] * states)", "(weights * states)")
        code = code.replace("return logits, after, weights", "return logits, after, weights[..., 0]")
    verdict = graded(exercise, code, tmp_path)
    assert not verdict.passed
    assert words in verdict.advice


@pytest.mark.parametrize("rows", ["real.sum(dim=1) * 0 + 1", "real.sum(dim=1) + 3"])
def test_no_remark_about_softmax_where_there_is_none(rows: str, tmp_path: Path) -> None:
    solution = find("bottleneck").solution
    code = solution.replace("last = real.sum(dim=1) - 1", f"last = ({rows}) % real.shape[1]")
    assert code != solution
    verdict = graded("bottleneck", code, tmp_path)
    assert not verdict.passed
    assert "softmax" not in verdict.advice
    assert "one word only" not in verdict.advice


def test_a_mistake_beside_kept_impossible_words_is_named_too(tmp_path: Path) -> None:
    code = find("beam").solution.replace("            if value > -np.inf\n", "")
    advice = graded("beam", code.replace("key=lambda one: one[1], reverse=True", "key=lambda one: one[1]"), tmp_path)
    assert "ascending" in advice.advice


def test_wrong_sets_show_what_is_missing_and_what_should_not_be_there() -> None:
    links = [(Leaf("links", "set", {(0, 0), (2, 1)}), Leaf("links", "set", {(0, 0), (1, 1)}))]
    assert collection_relation(links) == ["(2, 1) stands where (1, 1) is wanted."]
    links = [(Leaf("links", "set", {(2, 0), (2, 1)}), Leaf("links", "set", {(0, 0), (1, 1)}))]
    assert collection_relation(links) == ["Missing: (0, 0), (1, 1). Should not be there: (2, 0), (2, 1)."]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    x * 2\n", FORGOTTEN),
        ("    if x:\n        return 1\n", FORGOTTEN),
        (f"{LOOP}        return None\n", "line 5 is reached inside the loop"),
        (f"{LOOP}    return None\n", "the `return None` in line 5 is reached."),
        ("    return x.sort()\n", "what stands after `return` in line 2 is None"),
        ("    if x:\n        return x.sort()\n    else:\n        return x.append(1)\n", "`return` in line 5"),
        ("    def inner():\n        return None\n    inner()\n", FORGOTTEN),
    ],
)
def test_none_is_explained_from_the_paths_of_the_function(body: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "exercise.py"
    path.write_text(f"def answer(x):\n{body}", encoding="utf-8")
    assert words in why_none(path, "answer")


def test_a_return_inside_the_loop_is_not_called_a_forgotten_one(tmp_path: Path) -> None:
    solution = find("bottleneck").solution
    code = solution.replace(
        "            return place\n    return None", "            return place\n        return None"
    )
    assert code != solution
    assert "inside the loop" in graded("bottleneck", code, tmp_path).headline
