"""Watch mode on terminals of every kind: no colour, dumb, narrow, resized, piped, cut off, suspended."""

import ast
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from course.terminal import CLEAR, Terminal, learn
from regard.course.catalogue import ExerciseEntry, entries, find
from regard.course.verdict_text import fold_code

SOLVED = find("1").solution


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = learn(tmp_path)
    opened.wait_for("TODO: write softmax", "q quit")
    yield opened
    opened.close()


def run(folder: Path, *arguments: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "regard", "learn", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def exercise_file(folder: Path, number: str) -> Path:
    return folder / "regard-course" / find(number).name / "exercise.py"


def test_keys_resizing_and_saves_elsewhere(terminal: Terminal, tmp_path: Path) -> None:
    assert "\x1b[1m" in terminal.output  # bold: colour is on
    terminal.resize(30, 44)
    time.sleep(0.3)
    picture = terminal.wait_for("TODO: write", "q quit")
    assert max(len(line) for line in picture.splitlines() if "regard-course" not in line) <= 44
    terminal.resize(40, 100)
    terminal.press("?")
    terminal.wait_for("Keys:", "put the starter back")
    terminal.press("l")
    terminal.wait_for("A number and Enter goes there")
    terminal.press("\x1b[A")  # an arrow key does nothing
    terminal.press("3\n")
    terminal.wait_for("Exercise 3 of", "TODO: write masked_softmax")
    terminal.press("99\n")
    terminal.wait_for("There is no exercise 99")
    exercise_file(tmp_path, "1").write_text(SOLVED, encoding="utf-8")  # work on another one: watch goes there
    terminal.wait_for("Exercise 1 of", "✓ 1")
    terminal.press("r")
    terminal.wait_for("Put the starter back?")
    terminal.press("y")
    terminal.wait_for("is the starter again", "before-reset-1.py", "TODO: write softmax")
    terminal.press("t")
    terminal.press(" ")
    terminal.wait_for("Try this.")
    terminal.press("\x03")
    assert terminal.wait_for_end() == 0
    assert "Your progress is kept" in terminal.output


def test_a_long_text_has_pages_with_the_file_above_and_the_headline_below(terminal: Terminal) -> None:
    terminal.resize(24, 80)
    picture = terminal.wait_for("space: next page", "TODO: write softmax", "q quit")
    assert "01_softmax/exercise.py" in picture
    assert len(picture.rstrip().splitlines()) <= 24
    for _ in range(4):
        terminal.press(" ")
    picture = terminal.wait_for("Try this.", "b: page before", "TODO: write softmax")
    assert "01_softmax/exercise.py" in picture
    terminal.press("b")
    terminal.wait_for("space: next page")


def test_a_narrow_title_gives_the_file_a_line_of_its_own(terminal: Terminal) -> None:
    terminal.resize(70, 50)
    picture = terminal.wait_for("\nregard-course/01_softmax/exercise.py\n", "q quit")
    assert max(len(line) for line in picture.splitlines()) <= 50


def test_a_save_while_the_grader_works_is_graded_instead(terminal: Terminal, tmp_path: Path) -> None:
    path = exercise_file(tmp_path, "1")
    path.write_text("def softmax(scores):\n    while True:\n        pass\n")
    terminal.wait_for("grading …", gone="never")
    path.write_text(SOLVED, encoding="utf-8")
    began = time.monotonic()
    terminal.wait_for("✓ 1")
    assert time.monotonic() - began < 9  # the endless loop would have had ten seconds


def test_quitting_while_the_grader_works(terminal: Terminal, tmp_path: Path) -> None:
    exercise_file(tmp_path, "1").write_text("while True:\n    pass\n")
    terminal.wait_for("grading …", gone="never")
    terminal.press("q")
    assert terminal.wait_for_end(5) == 0


def test_a_file_that_vanishes_and_returns(terminal: Terminal, tmp_path: Path) -> None:
    path = exercise_file(tmp_path, "1")
    moved = path.with_suffix(".bak")
    path.rename(moved)
    terminal.wait_for("exercise.py is not there")
    moved.write_text(SOLVED, encoding="utf-8")
    moved.rename(path)
    terminal.wait_for("✓ 1")


@pytest.mark.parametrize("end", ["window closed", "killed"])
def test_an_end_by_force_leaves_nothing_behind(terminal: Terminal, end: str) -> None:
    children = Path(f"/proc/{terminal.process.pid}/task/{terminal.process.pid}/children")
    deadline = time.monotonic() + 10
    while not children.read_text().split() and time.monotonic() < deadline:
        time.sleep(0.05)
    spare = Path(f"/proc/{children.read_text().split()[0]}/cmdline")
    if end == "killed":
        terminal.process.send_signal(signal.SIGKILL)
    else:
        terminal.hang_up()
    terminal.process.wait(timeout=10)
    deadline = time.monotonic() + 5
    while spare.exists() and spare.read_bytes() and time.monotonic() < deadline:  # a zombie's is empty
        time.sleep(0.05)
    assert not spare.exists() or not spare.read_bytes()


def test_after_a_pause_the_picture_is_drawn_anew(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGSTOP)
    before = terminal.output.count(CLEAR)
    terminal.process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + 10
    while terminal.output.count(CLEAR) == before and time.monotonic() < deadline:
        terminal._read(0.05)
    assert terminal.output.count(CLEAR) > before
    terminal.wait_for("TODO: write softmax", "q quit")


def test_the_terminal_is_put_back(tmp_path: Path) -> None:
    terminal = Terminal(["bash", "--norc", "-c", f"{sys.executable} -m regard learn; stty -a"], tmp_path)
    try:
        terminal.wait_for("q quit")
        terminal.press("q")
        assert terminal.wait_for_end() == 0
        assert re.search(r"(?<!-)\bicanon\b", terminal.output)
        assert re.search(r"(?<!-)\becho\b", terminal.output)
    finally:
        terminal.close()


@pytest.mark.parametrize("variable", ["NO_COLOR=1", "TERM=dumb"])
def test_without_colour(tmp_path: Path, variable: str) -> None:
    name, value = variable.split("=")
    terminal = learn(tmp_path, **{name: value})
    try:
        terminal.wait_for("TODO: write softmax", "q quit")
        codes = set(re.findall(r"\x1b\[[0-9;]*[A-Za-z]", terminal.output))
        assert codes == (set() if name == "TERM" else {"\x1b[H", "\x1b[2J"})
        terminal.press("h")
        terminal.wait_for("Hint 1 of 3")
    finally:
        terminal.close()


def test_piped_there_are_no_escape_codes_and_the_end_of_input_ends_it(tmp_path: Path) -> None:
    done = run(tmp_path, given="h\nl\n2\nq\n")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "Hint 1 of 3" in done.stdout
    assert "Exercise 2 of" in done.stdout
    assert run(tmp_path, given="").returncode == 0
    closed = ["bash", "-c", f"exec {sys.executable} -m regard learn <&-"]
    done = subprocess.run(closed, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_verbs(tmp_path: Path) -> None:
    assert f"0/{len(entries())}" in run(tmp_path, "list").stdout
    exercise_file(tmp_path, "1").write_text(SOLVED, encoding="utf-8")
    assert "shown once yours passes" in run(tmp_path, "solution", "1").stderr
    done = run(tmp_path, "run", "1", "--json")
    assert done.returncode == 0
    assert '"status": "passed"' in done.stdout
    assert "def softmax" in run(tmp_path, "solution", "1").stdout
    assert "Hint 2 of 3 for exercise 3" in run(tmp_path, "hint", "masking", "2").stdout
    assert "kept as exercise.before-reset-1.py" in run(tmp_path, "reset", "1").stdout
    assert "Exercise 3 of" in run(tmp_path, "3", given="q\n").stdout  # a number alone: go there
    assert "Exercise 2 of" in run(tmp_path, "additive_score", given="q\n").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hint", "3", "4"], "there is no hint 4"),
        (["run", "99"], "there is no exercise '99'"),
        (
            ["99"],
            "there is no action '99': valid actions are watch, list, run, hint, reset, solution, answer, check (or an",
        ),
        (["hnt"], "there is no action 'hnt': did you mean 'hint'? (or an exercise's number, 1 to 20)"),
        (["--grade", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_code_of_hints_and_solutions_is_still_python_when_it_is_folded(entry: ExerciseEntry, width: int) -> None:
    for text in (entry.hints[-1], entry.solution):
        code = text if text is entry.solution else "\n".join(line for line in _code(text))
        code = code.replace("…", "x")
        folded = "\n".join(part for line in code.splitlines() for part in fold_code(line, width))
        try:
            wanted = _parsed(code)
        except SyntaxError:  # a hint with a gap that no name fills
            continue
        assert _parsed(folded) == wanted


def _parsed(code: str) -> str:
    """What Python reads; a docstring may be broken into lines."""
    return re.sub(r"(\\n|\s)+", " ", ast.dump(ast.parse(textwrap.dedent(code))))


def _code(markdown: str) -> Iterator[str]:
    fenced = False
    for line in markdown.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line
