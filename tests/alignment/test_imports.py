"""Alignment and evaluation do not import torch."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["regard.alignment", "regard.evaluation"])
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    heavy = ["torch", "sacrebleu", "rapidfuzz", "matplotlib"]
    code = f"import {module}, sys; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
