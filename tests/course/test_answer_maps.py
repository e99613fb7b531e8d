"""The learner's answer beside the right one: what the studio draws, and the report that it reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.course.answer_map import MOST, answer_map, largest
from regard.course.answer_parts import Leaf
from regard.course.catalogue import find
from regard.course.last_report import read_report
from regard.course.session import Session


def leaf(value: Any) -> Leaf:
    return Leaf("weights", "NumPy array", np.asarray(value))


def test_arrays_become_matrices() -> None:
    found = answer_map(leaf([0.5, np.nan]), leaf([1.0, 0.0]))
    assert found is not None
    assert (found.name, found.yours, found.wanted) == ("weights", ((0.5, None),), ((1.0, 0.0),))
    right = np.arange(12.0).reshape(3, 2, 2)
    wrong = right.copy()
    wrong[1, 0, 1] = 99.0
    found = answer_map(leaf(wrong), leaf(right))
    assert found is not None
    assert found.yours == ((4.0, 99.0), (6.0, 7.0)), "the matrix with the largest error"
    assert found.wanted == ((4.0, 5.0), (6.0, 7.0))
    other_shape = answer_map(leaf([[1.0]]), leaf(right))
    assert other_shape is not None
    assert (other_shape.yours, other_shape.wanted) == (((1.0,),), ((0.0, 1.0), (2.0, 3.0)))
    large = answer_map(leaf(np.ones((100, 100))), leaf(np.ones((100, 100))))
    assert large is not None
    assert (len(large.yours), len(large.yours[0])) == (MOST, MOST)


@pytest.mark.parametrize("value", [np.zeros(0), np.array("text"), 3, None, np.array([1j])])
def test_other_values_are_not_drawn(value: Any) -> None:
    assert answer_map(Leaf("it", "thing", value), leaf([1.0])) is None
    assert answer_map(leaf([1.0]), Leaf("it", "thing", value)) is None
    assert largest([None]) is None


def test_a_session_keeps_the_last_report_of_an_exercise(tmp_path: Path) -> None:
    session, entry = Session(tmp_path / "course"), find("3")
    path = session.folder.file(entry)
    right = (entry.home / "solution.py").read_text(encoding="utf-8")
    path.write_text(right.replace("-np.inf", "0.0"), encoding="utf-8")
    assert session.grade(entry).status == "failed"
    report = read_report(session.folder.path, entry)
    assert report is not None
    assert report["status"] == "failed"
    yours, wanted = np.array(report["answer"]["yours"]), np.array(report["answer"]["wanted"])
    assert yours.shape == wanted.shape
    assert np.abs(yours - wanted).max() > 0.01
    np.testing.assert_allclose(wanted.sum(axis=1), 1.0, atol=1e-5)
    path.write_text(right, encoding="utf-8")
    assert session.grade(entry).status == "passed"
    report = read_report(session.folder.path, entry)
    assert report is not None
    assert report["answer"]["yours"] == report["answer"]["wanted"]
    session.close()
