"""One large sample for all tests of the phrasebook."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCES = Path(__file__).parents[3] / "src"


def _run(*arguments: str, hash_seed: str = "0") -> str:
    """The output of another Python process, without type checks."""
    environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(SOURCES), "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    return _run


@pytest.fixture(scope="session")
def samples() -> dict[str, Any]:
    return json.loads(_run(str(Path(__file__).parent / "generate.py")))  # type: ignore[no-any-return]
