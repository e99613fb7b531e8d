"""The command, run in this process or in a child process, and the bundles that it is run on."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from regard.cli.main import run
from runtime.bundles import trained, untrained


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line on stderr of a command that was refused; nothing came out, and no traceback."""
        (line,) = self.err.splitlines()
        assert line.startswith("regard: ")
        assert self.out == ""
        return line.removeprefix("regard: ")


Command = Callable[..., Outcome]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """command("translate", folder, "text", stdin=b"..."): runs `regard translate folder text` in this process."""

    def call(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """The same in a child process, in an empty folder."""

    def call(*arguments: object, stdin: bytes = b"", preexec: Callable[[], None] | None = None) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "regard", *(str(argument) for argument in arguments)],
            input=stdin, capture_output=True, cwd=tmp_path, preexec_fn=preexec, timeout=120, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "80"},
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learned to reverse numbers; it reads 20 pieces at most."""
    return trained(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def vanilla(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained(tmp_path_factory.mktemp("cli") / "vanilla", "vanilla")


@pytest.fixture(scope="session")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained(tmp_path_factory.mktemp("cli") / "transformer", "transformer")
