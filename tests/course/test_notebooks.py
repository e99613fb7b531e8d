"""Notebooks: `check` gives the same diagnosis as HTML, and every notebook runs in real Jupyter."""

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from regard.course import check
from regard.course.catalogue import ExerciseEntry, entries, find
from regard.course.notebooks import notebook, write_notebooks
from regard.text.input_error import InputError


def softmax(scores: np.ndarray) -> Any:
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def test_check_gives_the_diagnosis_as_html() -> None:
    feedback = check("softmax", softmax)
    assert not feedback.passed
    html = feedback._repr_html_()
    assert "unstable" in html
    assert "Subtract the largest score" in html
    assert "<script" not in check("softmax", softmax)._repr_html_()


def test_check_names_the_functions_that_it_wants() -> None:
    with pytest.raises(InputError, match="about the functions masked_softmax"):
        check("masking", softmax)


def test_functions_that_are_not_given_are_to_be_written() -> None:
    def pad(sentences: list[list[int]]) -> Any:
        return find("packing").load().reference["pad"](sentences)

    feedback = check("packing", pad)
    assert feedback.verdict.status == "unfinished"
    assert "encode" in feedback.verdict.headline
    assert feedback.verdict.notes == ("`pad` is right.",)


def test_notebooks_are_valid_and_never_overwritten(tmp_path: Path) -> None:
    written = write_notebooks(tmp_path)
    assert len(written) == len(entries())
    for path in written:
        nbformat.validate(nbformat.read(path, as_version=4))
    written[0].write_text("mine", encoding="utf-8")
    assert write_notebooks(tmp_path) == []
    assert written[0].read_text(encoding="utf-8") == "mine"


def executed(entry: ExerciseEntry, code: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The notebook after Jupyter ran it; `code` takes the starter's place."""
    book = nbformat.reads(json.dumps(notebook(entry)), as_version=4)
    if code is not None:
        imports = entry.starter.split("\ndef ")[0]  # a learner keeps the starter's; the experiment may need them
        book.cells[2].source = f"{imports}\n{code.split('if __name__')[0]}"
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    monkeypatch.setattr(KernelSpecManager, "ensure_native_kernel", True)
    NotebookClient(book, timeout=600, kernel_name="python3", allow_errors=code is None).execute(cwd=str(folder))
    return book


def test_a_notebook_runs_with_the_starter_and_with_the_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = find("softmax")
    before = executed(entry, None, tmp_path, monkeypatch)
    assert "TODO: write softmax" in before.cells[3].outputs[0]["data"]["text/html"]
    after = executed(entry, entry.solution, tmp_path, monkeypatch)
    assert "✓ 1 · A softmax that survives" in after.cells[3].outputs[0]["data"]["text/html"]
    assert "cat" in after.cells[4].outputs[0]["text"]


@pytest.mark.parametrize(
    "entry",
    [pytest.param(one, marks=() if one.number in (4, 10) else pytest.mark.long) for one in entries()[1:]],
    ids=lambda entry: entry.name,
)
def test_every_notebook_passes_with_the_solution(
    entry: ExerciseEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = executed(entry, entry.solution, tmp_path, monkeypatch)
    assert escape(f"✓ {entry.number} · {entry.title}") in book.cells[3].outputs[-1]["data"]["text/html"]
    errors = [
        one for cell in book.cells if cell.cell_type == "code" for one in cell.outputs if one.output_type == "error"
    ]
    assert not errors


def test_an_exercise_s_number_and_a_function_of_another_name() -> None:
    assert check(1, softmax).verdict.mistake == "no_maximum"
    with pytest.raises(InputError, match=r"about the functions softmax; <lambda> is another name"):
        check(1, lambda scores: scores)
