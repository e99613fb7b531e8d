"""Triton's interpreter for tests: kernels run in Python, on the CPU, where there is no GPU to run them.

Triton decides when it is first imported whether its own functions will be interpreted: import this before Triton.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

INTERPRETED = not torch.cuda.is_available()


@contextmanager
def kernels() -> Iterator[None]:
    """Within, `regard` takes its kernels: interpreted, or on a GPU as always."""
    with pytest.MonkeyPatch.context() as patch:
        if INTERPRETED:
            patch.setenv("TRITON_INTERPRET", "1")
            interpreted = not isinstance(triton.language.max, triton.JITFunction)
            assert interpreted, "something imported Triton before tests/interpreter.py could ask for its interpreter"
        yield


with pytest.MonkeyPatch.context() as _patch:
    if INTERPRETED:
        _patch.setenv("TRITON_INTERPRET", "1")
    triton = pytest.importorskip("triton")
