"""What is said about wrong answers and exceptions that no named mistake explains."""

import ast
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import regard.course
from course.test_diagnosis import graded
from regard.course.answer_parts import Leaf
from regard.course.collection_relations import collection_relation
from regard.course.error_advice import advice_for
from regard.course.repair_edits import edits
from regard.course.value_relations import number_relation

KINDS = (ValueError, TypeError, IndexError, AttributeError, RecursionError)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("np.softmax(1)", "by its bare name"),
        ("np.ones(2) @ np.ones(3)", "inner axes"),
        ("np.ones((2, 3))[:, 3]", "0 to 2"),
        ("np.zeros(3)[:2].__setitem__(slice(None), np.ones(3))", "same length"),
        ("np.max(np.ones(0))", "empty"),
        ("None + 1", "is None"),
        ("[1, 2] - [1]", "calculate with a list"),
        ("(lambda places: places[0, 1])([1, 2])", "not a whole number"),
        ("(lambda scores: scores)()", "number of arguments"),
        ("range(2.5)", "one number"),
        ("-np.ones(2, dtype=bool)", "~mask"),
        ("~np.ones(2)", "bool"),
        ("(lambda: 3)()(4)", "no function"),
        ("sorted([1, None])", "None"),
        ("(lambda f: f(f))(lambda f: f(f))", "without end"),
        ("np.einsum('ij,jk->ik', np.ones((2, 3)), np.ones((2, 3)))", "letters of einsum"),
        ("np.concatenate([np.ones(2), np.ones((2, 2))])", "side by side"),
    ],
)
def test_real_exceptions_are_explained(code: str, words: str) -> None:
    with pytest.raises(KINDS) as caught:
        eval(code, {"np": np})
    assert words in advice_for(caught.value)


def test_torch_exceptions_are_explained() -> None:
    torch = pytest.importorskip("torch")
    cross_entropy, one_hot = torch.nn.functional.cross_entropy, torch.nn.functional.one_hot
    cases: list[tuple[Callable[[], object], str]]
    cases = [
        (lambda: torch.softmax(np.ones(2), -1), "not a tensor"),
        (lambda: one_hot(torch.tensor([3]), 3), "off by one"),
        (lambda: torch.ones(2).softmax(dim=3), "no such axis"),
        (lambda: torch.ones(2, 3).expand(2, 4), "same length"),
        (lambda: cross_entropy(torch.ones(2, 3, 4), torch.zeros(2, 3).long()), "vocabulary as axis 1"),
        (lambda: torch.bmm(torch.ones(2, 3), torch.ones(3, 2)), "number of axes"),
        (lambda: torch.arange(3).softmax(-1), "floats are needed"),
        (lambda: torch.ones(3, 4).max(dim=1).softmax(0), "take it apart"),
    ]
    for call, words in cases:
        with pytest.raises((RuntimeError, TypeError, IndexError, ValueError, AttributeError)) as caught:
            call()
        assert words in advice_for(caught.value)


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        (
            "context",
            "def context_vectors(scores, states):\n    return np.zeros((len(scores), states.shape[1]))",
            "0 everywhere",
        ),
        ("softmax", "def softmax(scores):\n    return np.exp(scores)", "not divided"),
        (
            "masking",
            "def softmax(s):\n    return s\ndef masked_softmax(scores, lengths):\n    return scores",
            "as it came",
        ),
        (
            "additive_score",
            "def additive_score(query, states, W_s, W_h, v):\n"
            "    return np.tanh(W_s @ query + W_h @ states.mean(axis=0)) @ v * np.ones(len(states))",
            "along `source` are the same",
        ),
        ("additive_score", "def additive_score(query, states, W_s, W_h, v):\n    return []", "Your answer is empty"),
        (
            "softmax",
            "def softmax(scores):\n    e = [np.exp(row - row.max()) for row in scores]\n"
            "    return np.array([row / row.sum() for row in e])",
            "with 2 axes only",
        ),
    ],
)
def test_known_wrong_answers_are_named(exercise: str, code: str, words: str, tmp_path: Path) -> None:
    assert words in graded(exercise, code + "\n", tmp_path).advice


def test_numbers_that_never_change_are_reported() -> None:
    assert "always 1" in number_relation(np.array([1.0, 1.0, 1.0]), np.array([0.5, 0.7, 1.0]))[0]
    assert "minus" in number_relation(np.array([-0.5, -0.7, -1.0]), np.array([0.5, 0.7, 1.0]))[0]


@pytest.mark.parametrize(
    ("mine", "want", "words"),
    [
        ([[0.5, 0.5, 0.5]], [[0.5, 0.0, 1.0]], "All entries of your list are the same"),
        ([["eval", "eval"]], [["train", "train"]], "Wherever 'train' is wanted, yours is 'eval'"),
        ([[1, 2, 3]], [[4, 5]], "Your list has 3 entries, wanted are 2"),
    ],
)
def test_relations_of_lists(mine: list[list[object]], want: list[list[object]], words: str) -> None:
    pairs = [(Leaf("a", "list", one), Leaf("a", "list", two)) for one, two in zip(mine, want, strict=True)]
    assert words in collection_relation(pairs)[0]


def test_a_list_where_a_set_is_wanted() -> None:
    pairs = [(Leaf("links", "list", [(0, 0), (1, 1)]), Leaf("links", "set", {(0, 0), (1, 1)}))]
    assert "not in a set" in collection_relation(pairs)[0]


def test_every_kind_of_statement_and_expression_can_be_changed() -> None:
    """No change may fail while it is made or shown: a failure would cost the diagnosis."""
    folder = Path(regard.course.__file__).parent / "exercises"
    for path in sorted(folder.glob("*/solution.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        made = [ast.unparse(edit.tree) for edit in edits(ast.Module([*functions[-1:]], []))]
        assert len(made) > 30


def test_a_sum_that_should_be_an_assignment_is_repaired(tmp_path: Path) -> None:
    code = "def context_vectors(scores, states):\n    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    code += "    w = states.sum()\n    w += e / e.sum(axis=-1, keepdims=True)\n    return w @ states\n"
    assert "overwrite, do not add up" in graded("context", code, tmp_path).advice
