"""Issue 13, item 2: nothing is imported from the current folder, neither by the command nor by its processes."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import regard
from regard.child import environment
from regard.data.worker_pool import WorkerPool
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_config import TokenizerConfig
from regard.text.worker import encode_texts
from runtime.foreign import MINE, OWN, write_module

from .conftest import Command

PACKAGES = {"numpy", "pydantic", "rich", "safetensors", "tokenizers", "torch", "typer"}
BEFORE = {"collections", "contextlib", "functools", "importlib", "keyword", "operator", "reprlib", "types", "warnings"}
"""What Python imports for `python -m` before the module."""
SCRIPT = "from regard.cli.main import main\nmain()\n"
"""The command `regard` as a script: Python puts the folder of the script on the path, not the current one."""


def plant(folder: Path, names: set[str]) -> Path:
    """A folder with modules of these names; each ends the process that imports it."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.py").write_text(f"raise SystemExit('hijacked by {name}')\n", encoding="utf-8")
    return folder


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a module for every name that Python or regard imports."""
    folder = plant(tmp_path / "hostile", {*sys.stdlib_module_names, *PACKAGES})
    monkeypatch.chdir(folder)
    return folder


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in that folder, which is not on PYTHONPATH, nor is the empty entry that stands for it."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=given, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_command_does_not_import_from_the_current_folder(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "command").mkdir()
    script = tmp_path / "command" / "regard"
    script.write_text(SCRIPT, encoding="utf-8")
    done = python(hostile, str(script), "info", "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("regard: no bundle at nothing")


def test_python_m_regard_does_not_import_a_mechanism_from_the_current_folder(
    tmp_path: Path,
) -> None:
    """Before regard starts, `python -m` itself imports from there; only later imports can be prevented."""
    here = plant(write_module(tmp_path / "here"), {*sys.stdlib_module_names, *PACKAGES} - BEFORE)
    (here / "mine.toml").write_text(OWN, encoding="utf-8")
    done = python(here, "-m", "regard", "train", "mine.toml", "--out", "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert f'score "{MINE}" names module "strange_mechanism", which cannot be imported' in done.stderr
    assert "looked for in installed packages and on PYTHONPATH, not in the current folder" in done.stderr
    assert not (here / "imported").exists()


def test_python_m_regard_keeps_a_current_folder_that_the_user_put_on_the_path(tmp_path: Path) -> None:
    here = write_module(tmp_path / "here")
    (here / "mine.toml").write_text(OWN, encoding="utf-8")
    given = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *filter(None, sys.path)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", "-m", "regard", "doctor", "mine.toml"]
    done = subprocess.run(command, cwd=here, env=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert (here / "imported").exists()


def test_processes_that_prepare_data_do_not_import_from_the_current_folder(hostile: Path) -> None:
    tokenizer = Tokenizer.train(["a b c"], TokenizerConfig())
    with WorkerPool(partial(encode_texts, (tokenizer, tokenizer)), 1) as pool:
        assert len(list(pool.map([((["a"], ["b"]), None)]))) == 1


@pytest.mark.slow
def test_runs_of_a_comparison_do_not_import_from_the_current_folder(hostile: Path, command: Command) -> None:
    (hostile / "mine.toml").write_text(OWN.replace(MINE, "additive"), encoding="utf-8")
    options = ["--score", "additive", "--seeds", "1", "--sentences", "2", "--out", "out"]
    done = command("compare", "mine.toml", *options)
    assert (done.code, "hijacked" in done.out + done.err) == (0, False), done.err
    assert (hostile / "out" / "report.json").exists()


def test_the_path_of_child_processes_has_no_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/elsewhere", *sys.path])
    monkeypatch.setenv("PYTHONPATH", "")
    given = environment()["PYTHONPATH"].split(os.pathsep)
    assert given[0] == "/elsewhere"
    assert not {"", str(tmp_path)} & {*given}
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert str(tmp_path) in environment()["PYTHONPATH"].split(os.pathsep), "the user put it there"


def test_a_checkout_that_is_the_current_folder_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(regard.__file__).parents[1]
    monkeypatch.chdir(home)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(sys, "path", ["", *(path for path in sys.path if path and Path(path) != home)])
    assert environment()["PYTHONPATH"].split(os.pathsep)[-1] == str(home)


def test_every_process_of_ours_is_started_in_one_place() -> None:
    """`regard.child.python` adds -P; no other code starts an interpreter."""
    package = Path(regard.__file__).parent
    found = [path for path in sorted(package.rglob("*.py")) if "sys.executable" in path.read_text(encoding="utf-8")]
    assert [str(path.relative_to(package)) for path in found] == ["child.py"]
