"""Every score with every window equals its NumPy reference; the references need no torch."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from regard.attention import Attention
from regard.attention.additive.reference import additive
from regard.attention.local.reference import local_m, local_p
from regard.attention.multiplicative.reference import concat, dot, general
from regard.attention.none.reference import fixed_vector
from regard.attention.scaled_dot.reference import multi_head, scaled_dot
from regard.attention.worked import Worked, WorkedView, global_view

from .conftest import Example

REFERENCES = {
    "additive": additive,
    "dot": dot,
    "general": general,
    "concat": concat,
    "scaled-dot": scaled_dot,
    "multi-head": multi_head,
}
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def named(module: object) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in module.named_parameters(recurse=False)}


def reference_view(module: Attention, window: str, s: np.ndarray, real: np.ndarray) -> WorkedView:
    if window == "local-m":
        return local_m(s, real, reach=2)
    if window == "local-p":
        return local_p(s, real, reach=2, **named(module.window))
    return global_view(real, len(s))


def work_out(module: Attention, score: str, window: str, example: Example, row: int) -> Worked:
    s, h, real = (tensor[row].numpy() for tensor in (example.query, example.states, example.real))
    extra = {"heads": 2} if score == "multi-head" else {}
    return REFERENCES[score](s, h, reference_view(module, window, s, real), **extra, **named(module))


@pytest.mark.parametrize("window", ["global", "local-m", "local-p"])
@pytest.mark.parametrize("score", list(REFERENCES))
def test_module_equals_reference(score: str, window: str, typed_example: Example) -> None:
    module = typed_example.build(score, window)
    memory = module.prepare(typed_example.states, typed_example.real)
    seen = module(typed_example.query, memory, trace=True)
    tolerance = TOLERANCE[typed_example.query.dtype]
    for row, real in enumerate(typed_example.real):
        worked = work_out(module, score, window, typed_example, row)
        heads = slice(None) if score == "multi-head" else 0
        pairs = [
            (memory.keys[row][..., real, :], worked.keys[..., real.numpy(), :]),
            (memory.values[row][..., real, :], worked.values[..., real.numpy(), :]),
            (seen.trace.scores[row, heads][..., real], worked.scores[..., real.numpy()]),
            (seen.weights[row, heads], worked.weights),
            (seen.context[row], worked.context),
        ]
        if worked.center is not None:
            pairs.append((seen.trace.center[row], worked.center))
        if worked.gaussian is not None:
            pairs.append((seen.trace.gaussian[row, 0], worked.gaussian))
        for found, wanted in pairs:
            assert found.dtype == typed_example.query.dtype
            np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=0, atol=tolerance)
        np.testing.assert_array_equal(seen.trace.mask[row, 0].numpy(), worked.mask)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_no_attention_equals_reference(bidirectional: bool, typed_example: Example) -> None:
    module = typed_example.build("none", bidirectional=bidirectional)
    seen = module(typed_example.query, module.prepare(typed_example.states, typed_example.real))
    assert seen.weights is None
    for row in range(4):
        wanted = fixed_vector(typed_example.states[row].numpy(), typed_example.real[row].numpy(), bidirectional)
        for context in seen.context[row]:
            np.testing.assert_array_equal(context.numpy(), wanted)


@pytest.mark.parametrize("mechanism", ["additive", "multiplicative", "local", "scaled_dot", "none"])
def test_reference_imports_without_torch(mechanism: str) -> None:
    code = f"import sys; import regard.attention.{mechanism}.reference; assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
