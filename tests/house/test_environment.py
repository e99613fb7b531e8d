"""A test run leaves the Python environment as it found it, whatever its tests do to disks and files."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from environment import EnvironmentCheck

CONFTEST = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from environment import EnvironmentCheck

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(EnvironmentCheck(Path("packages")))
"""


@pytest.mark.parametrize(
    ("body", "named"),
    [("Path('packages/old.py').read_text()", ""), ("Path('packages/new.pyc').write_bytes(b'')", "packages/new.pyc")],
    ids=["reads", "adds"],
)
def test_a_run_that_changes_the_environment_fails(tmp_path: Path, body: str, named: str) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "old.py").write_text("1", encoding="utf-8")
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    test = f"from pathlib import Path\ndef test_it() -> None:\n    {body}\n"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", "-n", "1", str(tmp_path)]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take seconds to load
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone, check=False)
    assert "1 passed" in done.stdout
    assert done.returncode == (1 if named else 0)
    assert ("the tests changed the Python environment" in done.stdout) == bool(named)
    assert named in done.stdout


def test_changed_and_removed_files_are_found(tmp_path: Path) -> None:
    check = EnvironmentCheck(tmp_path)
    for name in ("changed", "kept", "removed"):
        (tmp_path / name).write_text("1", encoding="utf-8")
    check.pytest_sessionstart()
    (tmp_path / "changed").write_text("22", encoding="utf-8")
    (tmp_path / "removed").unlink()
    assert check.differences() == [str(tmp_path / "changed"), str(tmp_path / "removed")]


def test_this_run_is_checked(request: pytest.FixtureRequest) -> None:
    if hasattr(request.config, "workerinput"):
        pytest.skip("the process that started the workers checks")
    (check,) = [one for one in request.config.pluginmanager.get_plugins() if isinstance(one, EnvironmentCheck)]
    assert str(check.folder) == sysconfig.get_path("purelib")
    assert check.before


def test_tests_and_their_processes_write_no_compiled_files(tmp_path: Path) -> None:
    """With a limit on file sizes, Python would write truncated .pyc files, and later imports would fail."""
    assert sys.dont_write_bytecode
    (tmp_path / "large.py").write_text("names = (" + ", ".join(f"'{n}'" for n in range(5000)) + ")\n", encoding="utf-8")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); import large"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert not list(tmp_path.rglob("*.pyc"))
    del environment["PYTHONDONTWRITEBYTECODE"]
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    again = subprocess.run(
        [sys.executable, "-c", "import large"], env=environment, capture_output=True, text=True, check=False
    )
    assert "EOFError: marshal data too short" in again.stderr, "Python notices short writes now: drop all this"
