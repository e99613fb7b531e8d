"""`--course DIR`: a teacher's own exercises, with the same self-check, grading, class reports and notebooks."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.course import check
from regard.course.catalogue import HOME, entries, find, use_course
from regard.course.class_report import remarks
from regard.course.classroom import grade_class
from regard.course.notebooks import notebook
from regard.course.selfcheck import problems
from regard.text.input_error import InputError

from .conftest import grade_file

EXAMPLE = Path(__file__).parents[2] / "docs" / "guides" / "own-course"
MEAN = "import numpy as np\n\n\ndef mean_pooling(states, lengths):\n    return states.mean(axis=1)\n"


@pytest.fixture(autouse=True)
def own_path() -> Iterator[None]:
    """Every test ends with our course and the import path of before."""
    before, loaded = list(sys.path), set(sys.modules)
    yield
    use_course(HOME)
    sys.path[:] = before
    for name in set(sys.modules) - loaded:
        if name.startswith("e01_"):
            del sys.modules[name]


def regard(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "regard", "learn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=dict(os.environ))


def test_the_example_of_the_guide_keeps_the_rules_of_the_course() -> None:
    use_course(EXAMPLE)
    assert [entry.name for entry in entries()] == ["01_mean_pooling"]
    assert problems(find("1")) == []


def test_a_check_that_exits_is_reported(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "course")
    (tmp_path / "course" / "e01_mean_pooling" / "check.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    done = regard("check", "--course", "course", folder=tmp_path)
    assert done.returncode != 0
    assert "check.py cannot be used: SystemExit: 0" in done.stderr


def test_a_learner_works_through_it_from_the_command_line(tmp_path: Path) -> None:
    listed = regard("list", "--course", str(EXAMPLE), folder=tmp_path)
    assert "The mean of a sentence" in listed.stdout
    path = tmp_path / "own-course-work" / "01_mean_pooling" / "exercise.py"
    path.write_text(MEAN, encoding="utf-8")
    wrong = regard("run", "--course", str(EXAMPLE), folder=tmp_path)
    assert wrong.returncode == 1
    assert "The padding is part of the mean" in wrong.stdout
    path.write_text(find_solution(), encoding="utf-8")
    assert regard("run", "--course", str(EXAMPLE), folder=tmp_path).returncode == 0
    assert "def mean_pooling" in regard("solution", "--course", str(EXAMPLE), folder=tmp_path).stdout
    assert not (tmp_path / "regard-course").exists()


def find_solution() -> str:
    return (EXAMPLE / "e01_mean_pooling" / "solution.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    ["import e01_mean_pooling.solution", f"open({str(EXAMPLE / 'e01_mean_pooling' / 'solution.py')!r})"],
    ids=["import", "open"],
)
def test_its_solution_is_closed_to_the_learners_process(line: str, tmp_path: Path) -> None:
    use_course(EXAMPLE)
    (tmp_path / "exercise.py").write_text(f"{line}\n{MEAN}", encoding="utf-8")
    verdict = grade_file(find("1"), tmp_path / "exercise.py")
    assert verdict.status == "broken"
    assert "PermissionError" in verdict.headline


def test_a_class_is_graded_with_it_and_imports_of_its_checks_are_remarked(tmp_path: Path) -> None:
    use_course(EXAMPLE)
    files = {"anna": find_solution(), "bert": f"import e01_mean_pooling.check\n{MEAN}"}
    for name, text in files.items():
        (tmp_path / name / "01_mean_pooling").mkdir(parents=True)
        (tmp_path / name / "01_mean_pooling" / "exercise.py").write_text(text, encoding="utf-8")
    graded = grade_class(tmp_path)
    assert [one.points for one in graded] == [1, 0]
    assert remarks(graded) == {
        "anna": ["1: nearly the same as our solution"],
        "bert": ["1: uses e01_mean_pooling.check"],
    }


def test_a_notebook_names_the_course() -> None:
    use_course(EXAMPLE)
    cells = notebook(find("1"))["cells"]
    assert f"course={str(EXAMPLE)!r}" in "".join(cells[3]["source"])

    def mean_pooling(states, lengths):  # type: ignore[no-untyped-def]
        return states.sum(axis=1)

    use_course(HOME)
    assert check("mean_pooling", mean_pooling, course=EXAMPLE).verdict.status == "failed"
    with pytest.raises(InputError, match="the course has 1 softmax"):
        check("mean_pooling", mean_pooling)


def broken_course(tmp_path: Path, name: str, text: str | None) -> Path:
    """A copy of the example with one file changed or removed."""
    course = tmp_path / "course"
    shutil.copytree(EXAMPLE, course)
    path = course / "e01_mean_pooling" / name
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    return course


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("about.toml", "title = ", "about.toml cannot be read"),
        ("about.toml", 'needs = "numpy"\n', "wanted a title"),
        ("about.toml", 'title = "A"\nneeds = "jax"\n', 'needs = "numpy" or "torch"'),
        ("about.toml", 'title = "A"\nneeds = "numpy"\nlevel = 3\n', "no key 'level'"),
        ("about.toml", 'title = "A"\nneeds = "numpy"\nseconds = "ten"\n', "seconds = 'ten' has the wrong type"),
        ("about.toml", 'title = "A"\nneeds = "numpy"\nseconds = 0\n', "seconds must be above 0"),
        ("check.py", None, "has no check.py; an exercise needs"),
        ("README.md", None, "has no README.md"),
    ],
)
def test_a_folder_that_is_no_course_gets_one_clear_message(
    name: str, text: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        use_course(broken_course(tmp_path, name, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_like_this\n", "ModuleNotFoundError"),
        ("def broken(:\n", "SyntaxError"),
        ("EXERCISE = 3\n", "EXERCISE is a int, wanted an Exercise"),
        ("x = 1\n", "AttributeError"),
    ],
)
def test_checks_that_cannot_be_used_get_one_clear_message(text: str, message: str, tmp_path: Path) -> None:
    done = regard("check", "--course", str(broken_course(tmp_path, "check.py", text)), folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_no_folder_and_no_exercises(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        use_course(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no exercise"):
        use_course(tmp_path)
    for name in ("e01_one", "e01_two"):
        shutil.copytree(EXAMPLE / "e01_mean_pooling", tmp_path / name)
    with pytest.raises(InputError, match="same number"):
        use_course(tmp_path)


def test_progress_of_a_course_is_json_of_its_own_exercises(tmp_path: Path) -> None:
    listed = regard("list", "--json", "--course", str(EXAMPLE), "--folder", str(tmp_path / "mine"), folder=tmp_path)
    assert [row["exercise"] for row in json.loads(listed.stdout)] == ["01_mean_pooling"]


def test_its_helpers_run_where_the_learners_code_runs(tmp_path: Path) -> None:
    """`attempt.beside` imports a module of the course in the learner's process."""
    course = tmp_path / "course"
    shutil.copytree(EXAMPLE / "e01_mean_pooling", course / "e01_beside")
    home = course / "e01_beside"
    helper = "import os\n\n\ndef shape(attempt, states, lengths):\n"
    helper += "    return [os.getpid(), *attempt.mean_pooling(states, lengths).shape]\n"
    (home / "helper.py").write_text(helper, encoding="utf-8")
    law = "    process, *shape = attempt.beside('e01_beside.helper:shape', given['states'], given['lengths'])\n"
    law += "    check.that(process != __import__('os').getpid() and shape == [2, 2], 'The helper ran here.')\n"
    text = (home / "check.py").read_text(encoding="utf-8")
    changed = text.replace("    before = attempt", f"{law}    before = attempt")
    assert changed != text
    (home / "check.py").write_text(changed, encoding="utf-8")
    use_course(course)
    (tmp_path / "exercise.py").write_text(find_solution(), encoding="utf-8")
    verdict = grade_file(find("1"), tmp_path / "exercise.py")
    assert verdict.passed, verdict
