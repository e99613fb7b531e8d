"""Truncated .pyc files, as after a full disk: the command names them, and the doctor finds all of them."""

import importlib
import os
import py_compile
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.cli.failure import describe_failure
from regard.lab.bytecode import is_damaged


def cut_short(source: Path) -> Path:
    """Compile a file as an import does, then truncate the result, as a full disk does."""
    compiled = Path(py_compile.compile(str(source), doraise=True) or "")
    compiled.write_bytes(compiled.read_bytes()[:100])
    return compiled


def test_a_truncated_compiled_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cut_short_module.py").write_text("names = ['a', 'b', 'c']\n" * 100, encoding="utf-8")
    compiled = cut_short(tmp_path / "cut_short_module.py")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EOFError, match="marshal data too short") as caught:
        importlib.import_module("cut_short_module")
    message, code = describe_failure(caught.value)
    assert (message, code) == (
        f"{compiled} is truncated, for example by a full disk: free some space and delete it (Python rewrites it);"
        " `regard doctor` finds others",
        1,
    )
    assert describe_failure(EOFError("end of input"))[0].startswith("unexpected EOFError: end of input")


def test_the_doctor_finds_truncated_compiled_files(tmp_path: Path) -> None:
    """In a copy of the package, with a damaged file that the command itself must import and one that it need not."""
    folder = tmp_path / "a folder" / "regard"
    shutil.copytree(Path(regard.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    damaged = [cut_short(folder / "lab" / "examine.py"), cut_short(folder / "plot" / "heatmap.py")]
    command = [sys.executable, "-m", "regard", "doctor"]
    environment = {**os.environ, "PYTHONPATH": str(folder.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    first, *examples, remedy = done.stdout.splitlines()
    assert first.startswith("✗ 2 compiled files (.pyc) truncated, for example by a full disk: imports fail with")
    assert examples == [f"    {path}" for path in damaged]
    assert remedy.startswith(
        "    → free some disk space, then delete them (Python compiles them again), or compile all of"
    )
    subprocess.run(shlex.split(remedy.partition(": ")[2]), check=True)
    assert not any(map(is_damaged, damaged))
