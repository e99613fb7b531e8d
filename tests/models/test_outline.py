"""Models on the meta device."""

import subprocess
import sys


def test_outlines_import_no_sympy() -> None:
    """torch imports sympy, which takes seconds, at the first `normal_` of a tensor on the meta device."""
    code = """
import sys
from regard.models import RecurrentConfig, TransformerConfig
from regard.models.seq2seq import outline

for config in RecurrentConfig(), RecurrentConfig(cell="lstm", score="general"), TransformerConfig():
    assert outline(config, 50, 60).parameters_count
    assert "sympy" not in sys.modules
import torch
torch.empty(2, device="meta").normal_()
print("sympy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n", "normal_ on the meta device no longer imports sympy: drop _SkipNormal"
