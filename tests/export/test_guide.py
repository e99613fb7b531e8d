"""The program in the guide translates as regard does, and needs neither torch nor regard."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from runtime.bundles import ENGLISH

from .conftest import Exported

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "onnx.md"
TEXTS = [*(text.rstrip("!") for text in ENGLISH[:2]), "the green cat"]


@pytest.fixture(scope="module")
def program() -> str:
    (code,) = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return str(code)


def test_it_is_short_and_imports_little(program: str) -> None:
    assert len(program.splitlines()) <= 60
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(program))
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert imported - sys.stdlib_module_names == {"numpy", "onnxruntime"}


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer"])
def test_it_translates_as_regard_does(exported: Exported, program: str, name: str, int8: bool) -> None:
    _, folder = exported(name, int8=int8)
    space: dict[str, object] = {"__name__": "guide"}
    exec(compile(program, str(GUIDE), "exec"), space)
    translator = space["Translator"](folder)  # type: ignore[operator]
    for text in TEXTS:
        wanted = regard.load(folder).translate(text, longest=12, copy=False)
        written, looked = translator.translate(text, longest=12)
        assert written == [piece for piece in wanted.target_pieces if piece != "</s>"], text
        assert looked == pytest.approx(wanted.attention.mean(axis=(0, 1))[: len(written)], abs=1e-6)


def test_it_runs_as_a_program(exported: Exported, program: str, tmp_path: Path) -> None:
    """In a process that cannot import torch or regard."""
    block = "import sys\nsys.modules.update(torch=None, regard=None)\n"
    (tmp_path / "greedy.py").write_text(block + program, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "greedy.py"), str(exported("bahdanau")[1]), "the black cat"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert len(done.stdout.splitlines()) > 1
    assert done.stderr == ""
