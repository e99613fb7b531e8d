"""A class of thirty-six, graded from the command line: forgers, two who copied, and honest work of every kind."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course.test_forgery import FORGERIES, whole
from regard.course.catalogue import find

ENTRY = find("softmax")
OWN = """
def softmax(scores):
    highest = scores.max(axis=-1, keepdims=True)
    shifted = scores - highest
    weights = np.zeros_like(shifted)
    for place in np.ndindex(shifted.shape[:-1]):
        row = np.exp(shifted[place])
        weights[place] = row / row.sum()
    return weights
"""
HEAD = "import numpy as np\n\n"
HONEST = {
    "anna": HEAD + OWN,
    "anton": HEAD + OWN.replace("\n    shifted", "\n    # nobody will notice\n    shifted"),
    "bea": ENTRY.solution,
    "carl": HEAD + "def softmax(scores):\n    e = np.exp(scores - scores.max(-1, keepdims=True))\n"
    "    return e / e.sum(-1, keepdims=True)\n",
    "dora": HEAD + "def softmax(scores):\n    z = scores - scores.max(axis=-1, keepdims=True)\n"
    "    return np.exp(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))\n",
    "emil": HEAD + "softmax = lambda scores: np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))\n",
}
STRUGGLING = {
    "finn": (
        HEAD + "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)\n",
        "unstable",
    ),
    "gina": (
        HEAD + "def softmax(scores):\n    return np.exp(scores - scores.max()) / np.exp(scores).sum()\n",
        "failed",
    ),
    "hugo": (ENTRY.starter, "unfinished"),
    "ida": ("while True:\n    pass\n", "stopped"),
    "jan": ("def softmax(scores:\n", "broken"),
    "kim": ("import numpy as np\nraise SystemExit\n", "broken"),
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    forged = {f"forger{number:02}": whole(text) for number, text in enumerate(FORGERIES.values(), 1)}
    files = {**HONEST, **{name: text for name, (text, _) in STRUGGLING.items()}, **forged}
    assert len(files) == 36
    for name, text in files.items():
        (folder / name / ENTRY.name).mkdir(parents=True)
        (folder / name / ENTRY.name / "exercise.py").write_text(text, encoding="utf-8")
    return folder


def test_many_folders_are_graded_and_reported(room: Path, tmp_path: Path) -> None:
    report = tmp_path / "report"
    grading = ["learn", "run", "1", "--grade", str(room), "--report", str(report), "--json"]
    command = [sys.executable, "-m", "regard", *grading]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 1, done.stderr
    statuses = {one["learner"]: one["exercises"][ENTRY.name]["status"] for one in json.loads(done.stdout)}
    assert {name for name, status in statuses.items() if status == "passed"} == set(HONEST)
    assert {name: statuses[name] for name in STRUGGLING} == {name: wanted for name, (_, wanted) in STRUGGLING.items()}
    with (report / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    assert len(rows) == 36
    assert [rows[name]["credit"] for name in ("anna", "finn", "forger01")] == ["1.0", "0.5", "0.0"]
    assert rows["anna"]["remarks"] == "1: nearly the same as anton's"
    assert rows["bea"]["remarks"] == "1: nearly the same as our solution"
    assert rows["anton"]["remarks"] == "1: nearly the same as anna's"
    assert not any(rows[name]["remarks"] for name in ("carl", "dora", "emil", *STRUGGLING))
    reached = [name for name, row in rows.items() if "uses" in row["remarks"]]
    assert len(reached) >= 10
    assert len(list(report.glob("*.txt"))) == 36
    assert "Subtract the largest score" in (report / "finn.txt").read_text(encoding="utf-8")
