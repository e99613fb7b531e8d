"""Wrong inputs of attention modules raise a clear message, not an error from inside torch."""

import json
import re
import subprocess
import sys
from pathlib import Path

from regard.attention import SCORES
from regard.child import environment

NAMES = dict(
    zip(
        SCORES,
        ("Bahdanau", "LuongDot", "LuongGeneral", "LuongConcat", "ScaledDot", "MultiHead", "NoAttention"),
        strict=True,
    )
)
WANTED = {
    "states' width": "ValueError: {name}: the states are 5 wide, but state_width is 6",
    "states' axes": r"ValueError: {name}: states has shape \[4, 6\], expected \[batch, source, state\]",
    "mask's axes": r"ValueError: {name}: real has shape \[4\], expected \[batch, source\]",
    "mask's size": r"ValueError: {name}: real has shape \[2, 3\], but the states \[2, 4, 6\] need a mask .* \[2, 4\]",
    "integer mask": r"TypeError: {name}: real is torch.int64, but a mask is torch.bool, .*: real.bool\(\)",
    "states' type": "TypeError: {name}: states is a list, expected a tensor",
    "query's width": "ValueError: {name}: the query is 5 wide, but query_width is 6",
    "query's axes": r"ValueError: {name}: query has shape \[2, 6\], expected .*; one step is query\[:, None\]",
    "memory's type": r"TypeError: {name}: the memory is a Tensor, expected the Memory that prepare",
    "memory of another mechanism": r"ValueError: {name}: the memory's keys have shape .* \[batch, .*own prepare",
}


def test_wrong_widths_missing_axes_and_integer_masks_raise_clear_messages() -> None:
    """In its own process: here the tests' type checks would raise first."""
    command = [sys.executable, "-P", str(Path(__file__).parent / "wrong_inputs.py"), *SCORES]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for score, name in NAMES.items():
        for case, message in WANTED.items():
            assert re.match(message.format(name=name + r"\w*"), found[score][case]), (score, case, found[score][case])
    assert found["window"] == "ValueError: LocalP: the query is 6 wide, but query_width is 5"
    assert found["softmax"].startswith("TypeError: masked_softmax: mask is torch.int64, but it must be torch.bool")
