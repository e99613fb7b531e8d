"""The law of `regard.fast`: an accelerated implementation gives what the plain version gives, values and gradients.

In float64 to 1e-9; else its distance from the plain version in float64 is at most twice the plain version's own. Each
problem runs several times, because graphs are captured at the second call. Dispatch must have chosen the entry: a law
that compares the plain version with itself proves nothing.
"""

from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import interpreter
from fast.cases import Case, discrete, tensors
from regard import registry

FILES = sorted(Path(__file__).parent.glob("*/*cases.py"))
CASES: list[Case] = [case for file in FILES for case in import_module(f"fast.{file.parent.name}.{file.stem}").CASES]
FLOOR = 4.0
"""Rounding errors of the last bit, times the largest value, that count as no distance."""


def _parameters() -> list[Any]:
    return [
        pytest.param(case, dtype, id=f"{case}, {str(dtype).removeprefix('torch.')}",
                     marks=[pytest.mark.gpu] if case.where == "cuda" else [])
        for case in CASES
        for dtype in case.dtypes
    ]  # fmt: skip


def _outcome(case: Case, device: torch.device, dtype: torch.dtype, calls: int = 1) -> tuple[Any, list[Tensor]]:
    """What the last call gave: its discrete part, then values and gradients in float64 on the CPU."""
    problem = case.problem(device, dtype)
    for _ in range(calls):
        result = problem.run()
        values = list(tensors(result))
        gradients = []
        if problem.leaves:
            generator = torch.Generator().manual_seed(0)
            objective = sum(
                (value * torch.randn(value.shape, generator=generator, dtype=torch.float64).to(value)).sum()
                for value in values
                if value.requires_grad
            )
            assert isinstance(objective, Tensor)
            gradients = list(torch.autograd.grad(objective, list(problem.leaves.values())))
    return discrete(result), [one.detach().double().cpu() for one in (*values, *gradients)]


@pytest.mark.parametrize(("case", "dtype"), _parameters())
def test_fast_equals_plain(case: Case, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = torch.cuda.is_available()
    if case.where == "cuda" and not cuda:
        pytest.skip("needs a CUDA device")
    device = torch.device("cuda" if cuda and case.where != "cpu" else "cpu")
    calls = 1 if case.where == "kernels" and not cuda else case.calls  # the interpreter captures no graphs
    with interpreter.kernels() if case.where == "kernels" else nullcontext(), registry.recorded() as chosen:
        kinds, fast = _outcome(case, device, dtype, calls)
    assert case.entry in chosen, f"dispatch chose {chosen or 'the plain version'}"
    monkeypatch.setenv("REGARD_PLAIN", "1")
    with registry.recorded() as chosen:
        plain_kinds, plain = _outcome(case, device, dtype)
        _, exact = _outcome(case, device, torch.float64)
    assert not chosen
    assert kinds == plain_kinds
    assert len(fast) == len(plain) == len(exact)
    for found, usual, right in zip(fast, plain, exact, strict=True):
        if dtype == torch.float64:
            torch.testing.assert_close(found, usual, rtol=1e-9, atol=1e-9)
        elif right.numel():
            floor = FLOOR * torch.finfo(dtype).eps * float(right.abs().max())
            distance, own = float((found - right).abs().max()), float((usual - right).abs().max())
            assert distance <= 2 * own + floor, f"{distance} from float64; plain torch is {own} away"


def test_every_entry_has_a_case() -> None:
    import_module("regard.fast")
    entries = {
        entry.name
        for operation in registry.operations.values()
        for entry in operation.entries
        if entry.run.__module__.startswith("regard.")
    }
    assert entries == {case.entry for case in CASES}
