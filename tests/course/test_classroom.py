"""A class: folders of many learners, some of whose files hang, fork, print or exit; every one gets a line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regard.course import classroom
from regard.course.catalogue import ExerciseEntry, entries, find
from regard.course.class_report import grader_accesses, remarks, write_report
from regard.course.classroom import Graded, folders_without_exercises, grade_class, learners, table_lines
from regard.course.verdict import Verdict
from regard.text.input_error import InputError

FIRST, SECOND = find("1"), find("3")
WRONG = """
import numpy as np


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
"""


def hand_in(directory: Path, learner: str, **files: str) -> None:
    for name, text in files.items():
        place = directory / learner / name
        place.mkdir(parents=True)
        (place / "exercise.py").write_text(text, encoding="utf-8")


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two exercises with little time, and a class that tries everything."""
    two = (replace(FIRST, seconds=3.0), replace(SECOND, seconds=3.0))
    monkeypatch.setattr(classroom, "entries", lambda: two)
    first, second = FIRST.name, SECOND.name
    hand_in(tmp_path, "alice", **{first: FIRST.solution, second: SECOND.solution})
    hand_in(tmp_path, "bob", **{first: WRONG, second: SECOND.starter})
    hand_in(tmp_path, "carol", **{first: "while True:\n    pass\n"})
    hand_in(tmp_path, "dave", **{first: "print('x' * 10_000_000)\n", second: "import os\nos._exit(3)\n"})
    hand_in(tmp_path / "erin", "homework", **{first: "import os\nos.fork()\n" + FIRST.solution.split('"""', 2)[2]})
    (tmp_path / "notes.txt").write_text("not a learner")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_everybody_gets_a_verdict(room: Path) -> None:
    before = sorted(path for path in room.rglob("*"))
    told: list[str] = []
    graded = grade_class(room, lambda learner, entry, verdict: told.append(f"{learner} {entry.number}"))
    found = {one.learner: [one.verdicts[name].status for name in (FIRST.name, SECOND.name)] for one in graded}
    assert found == {
        "alice": ["passed", "passed"],
        "bob": ["unstable", "unfinished"],
        "carol": ["stopped", "missing"],
        "dave": ["stopped", "stopped"],
        "erin": ["passed", "missing"],
    }
    assert [one.points for one in graded] == [2, 0, 0, 0, 1]
    assert graded[1].verdicts[FIRST.name].mistake == "no_maximum"
    assert "exit code 3" in graded[3].verdicts[SECOND.name].headline
    assert told[:2] == ["alice 1", "alice 3"]
    assert json.loads(json.dumps(graded[0].json()))["exercises"][FIRST.name]["status"] == "passed"
    table = "\n".join(table_lines(graded))
    assert "alice     ✓  ✓    2 of 2" in table
    assert "carol     !  ?    0 of 2" in table
    assert "1 × 1 A softmax that survives: no_maximum" in table
    assert "carol, 1: Your code was still running after 3 s, so I stopped it. An endless loop?" in table
    assert "dave, 1: Your file printed more than a megabyte, so I stopped it." in table
    assert "dave, 3: Your file ended the whole process (exit code 3)" in table
    assert sorted(path for path in room.rglob("*")) == before  # nothing is written into learners' folders


def test_a_folder_that_holds_no_exercise_is_skipped_and_reported(room: Path) -> None:
    """Somebody may have handed in something, under another name."""
    assert folders_without_exercises(room) == ["empty"]
    assert "frank" not in learners(room)
    (room / "frank").mkdir()
    (room / "frank" / "softmax.py").write_text("x = 1\n")
    assert folders_without_exercises(room) == ["empty", "frank"]


def test_names_and_files_that_nobody_expects(tmp_path: Path) -> None:
    hand_in(tmp_path, "\x1b[31mzoë\n", **{FIRST.name: "x"})
    with (tmp_path / "\x1b[31mzoë\n" / FIRST.name / "exercise.py").open("r+b") as file:
        file.truncate(2**40)
    graded = grade_class(tmp_path)
    assert "1099512 MB" in graded[0].verdicts[FIRST.name].headline
    table = "\n".join(table_lines(graded))
    assert "\x1b" not in table
    assert "zoë       !" in table


def test_a_name_and_a_message_that_are_no_utf8_are_reported(tmp_path: Path) -> None:
    name = os.fsdecode(b"Jos\xe9")  # as an old zip file makes it
    hand_in(tmp_path / "class", name, **{FIRST.name: "raise ValueError('\\ud800')\n"})
    hand_in(tmp_path / "class", "zoe", **{FIRST.name: FIRST.solution})
    table, first, second = write_report(grade_class(tmp_path / "class", only=FIRST), tmp_path / "report")
    assert "Jos?,0.0" in table.read_text(encoding="utf-8")
    assert "ValueError: ?" in first.read_text(encoding="utf-8")
    assert "1 of 1 points" in second.read_text(encoding="utf-8")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_skipped(room: Path) -> None:
    (room / "empty").chmod(0)
    (room / "bob").chmod(0)
    try:
        assert folders_without_exercises(room) == ["bob", "empty"]
        assert "alice" in learners(room)
    finally:
        (room / "empty").chmod(0o700)
        (room / "bob").chmod(0o700)


def test_a_folder_without_learners_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no learner's folder was found in .*exercise\.py"):
        learners(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        learners(tmp_path / "nowhere")


def test_one_course_folder_is_a_class_of_one_and_the_exit_code_tells(tmp_path: Path) -> None:
    hand_in(tmp_path, "regard-course", **{FIRST.name: FIRST.solution})
    assert list(learners(tmp_path / "regard-course")) == ["regard-course"]
    done = subprocess.run(
        [sys.executable, "-m", "regard", "learn", "--grade", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 1, done.stderr
    (graded,) = json.loads(done.stdout)
    assert graded["points"] == FIRST.points
    assert set(graded["exercises"]) == {entry.name for entry in entries()}


def test_copies_and_files_that_reach_for_the_grader_are_remarked(tmp_path: Path) -> None:
    entry = find("context")
    own = "def context_vectors(scores, states):\n    total = 0\n    rows = []\n    for row in scores:\n"
    own += "        weights = softmax(row)\n        rows.append(sum(w * s for w, s in zip(weights, states)))\n"
    own += "    return np.array(rows)\n"
    forged = "import regard.course.exercises.e04_context.solution as s\nimport os\nos.write(5, b'')\n" + entry.starter
    files = {"anna": own, "bert": own.replace("    rows = []", "    rows = []  # mine"), "carl": forged}
    for name, text in files.items():
        (tmp_path / name / entry.name).mkdir(parents=True)
        (tmp_path / name / entry.name / "exercise.py").write_text(text, encoding="utf-8")
    verdicts = {entry.name: Verdict("unstable", "Almost.")}
    graded = [Graded(name, tmp_path / name, dict(verdicts)) for name in files]
    found = remarks(graded)
    assert found["anna"] == ["4: nearly the same as bert's"]
    assert found["bert"] == ["4: nearly the same as anna's"]
    assert found["carl"] == ["4: uses os.write, regard.course.exercises.e04_context.solution"]
    table, *feedback = write_report(graded, tmp_path / "report")
    header, first, *_ = table.read_text(encoding="utf-8").splitlines()
    assert header.startswith("learner,credit,of,1,2,")
    assert first.startswith("anna,0.5,1,")
    assert [path.name for path in feedback] == ["anna.txt", "bert.txt", "carl.txt"]
    assert "Almost." in feedback[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import os; os.chdir('exercises')", "os.chdir"),
        ("from os import chdir", "os.chdir"),
        ("import sys; sys.path.append('x')", "sys.path"),
        ("import code", "code"),
        ("import runpy", "runpy"),
        ("x = open('../../bob/exercise.py')", "../../bob/exercise.py, open"),
        ("x = '/proc/self/root'", "/proc/self/root"),
        ("x = __file__", "__file__"),
        ("import codecs", ""),
    ],
)
def test_what_leads_out_of_the_folder_is_remarked(line: str, what: str) -> None:
    assert ", ".join(grader_accesses(line)) == what


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_what_the_starter_itself_imports_is_not_remarked(entry: ExerciseEntry, tmp_path: Path) -> None:
    hand_in(tmp_path, "anna", **{entry.name: entry.solution})
    found = remarks([Graded("anna", tmp_path / "anna", {})]).get("anna", [])
    assert not any("uses" in line for line in found)


def test_copies_with_other_names_and_of_our_solution_are_remarked(tmp_path: Path) -> None:
    entry = find("beam")
    renamed = entry.solution.replace("candidates", "options").replace("living", "alive").replace("finished", "done")
    hand_in(tmp_path, "anna", **{entry.name: renamed})
    hand_in(tmp_path, "bert", **{entry.name: entry.solution})
    (tmp_path / "carl" / entry.name).mkdir(parents=True)
    (tmp_path / "carl" / entry.name / "exercise.py").symlink_to(entry.home / "solution.py")
    found = remarks([Graded(name, tmp_path / name, {}) for name in ("anna", "bert", "carl")])
    for name in ("anna", "bert", "carl"):
        assert f"{entry.number}: nearly the same as our solution" in found[name]
    assert f"{entry.number}: nearly the same as bert's" in found["anna"]
    assert f"{entry.number}: exercise.py is a link to another file" in found["carl"]


def test_a_report_needs_a_class_and_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "regard", "learn", "1", "--report", "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert "--grade DIR" in done.stderr
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--report wants a folder"):
        write_report([], tmp_path / "file")
