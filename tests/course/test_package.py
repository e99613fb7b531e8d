"""What learners receive: whole, clean under the linter, runnable once solved."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.course.catalogue import HOME, ExerciseEntry, entries
from regard.course.course_folder import open_folder

ROOT = Path(__file__).parents[2]
TRAINS = (9, 17)
"""Their experiments take as long as a training."""


def test_every_file_of_an_exercise_is_there() -> None:
    wanted = {"README.md", "__init__.py", "about.toml", "check.py", "hint.md", "slips.toml", "solution.py"}
    for entry in entries():
        found = {path.name for path in entry.home.iterdir() if path.name != "__pycache__"}
        assert found >= wanted, f"{entry.home.name} lacks {wanted - found}"
    folders = {path.name for path in HOME.iterdir() if path.is_dir() and path.name.startswith("e")}
    assert folders == {entry.home.name for entry in entries()}


def test_starters_are_clean_as_learners_receive_them(tmp_path: Path) -> None:
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    if not Path(ruff).exists():
        pytest.skip("ruff is not installed")
    course = open_folder(tmp_path / "course")
    # Prints are for the learner to see, and imports that are given wait for the code that uses them.
    rules = ["--config", str(ROOT / "pyproject.toml"), "--ignore", "T201,F401"]
    command = [ruff, "check", "--no-cache", *rules, str(course.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_starter_and_solution_have_the_same_signatures(entry: ExerciseEntry) -> None:
    def signatures(text: str) -> dict[str, str]:
        found = re.findall(r"^def (\w+)(\(.*?\) -> .*?):\n", text, flags=re.DOTALL | re.MULTILINE)
        return {name: re.sub(r"[\s]+|,(?=\s*\))", "", signature) for name, signature in found}

    starter, solution = signatures(entry.starter), signatures(entry.solution)
    assert starter.keys() <= solution.keys()
    for name, signature in starter.items():
        assert solution[name] == signature, name


def with_experiment(entry: ExerciseEntry, folder: Path) -> Path:
    experiment = entry.starter[entry.starter.index("if __name__") :]
    path = folder / "exercise.py"
    path.write_text(f"{entry.solution}\n\n{experiment}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "entry",
    [one for one in entries() if one.needs == "torch" and one.number not in TRAINS],
    ids=lambda entry: entry.name,
)
def test_the_experiment_of_a_torch_exercise_runs_once_the_todo_is_written(
    entry: ExerciseEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here, where torch is loaded already."""
    runpy.run_path(str(with_experiment(entry, tmp_path)), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("entry", [one for one in entries() if one.needs == "numpy"], ids=lambda entry: entry.name)
def test_the_experiment_runs_once_the_todo_is_written(entry: ExerciseEntry, tmp_path: Path) -> None:
    path = with_experiment(entry, tmp_path)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
