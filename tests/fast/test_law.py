"""The law of `regard.fast`: an accelerated implementation gives what the plain version gives, values and gradients.

In float64 to 1e-9; else its distance from the plain version in float64 is at most twice the plain version's own, plus
rounding (FLOOR). Each problem runs several times, because graphs are captured at the second call. Dispatch must choose
the entry in every call: a law that compares the plain version with itself proves nothing.
"""

from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import interpreter
from fast.cases import Case, Problem, discrete, tensors
from regard import registry
from regard.attention.additive.functional import additive_scores
from regard.search.hypothesis import Hypothesis

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


def _outcome(
    case: Case, device: torch.device, dtype: torch.dtype, calls: int = 1, *, fast: bool = False
) -> tuple[Any, list[Tensor]]:
    """What the last call gave: its discrete part, then values and gradients in float64 on the CPU.

    Every call chooses the entry if `fast`, else the plain version.
    """
    problem = case.problem(device, dtype)
    for call in range(calls):
        with registry.recorded() as chosen:
            result = problem.run()
        assert (case.entry in chosen) if fast else not chosen, f"call {call} ran {chosen or 'the plain version'}"
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
    with interpreter.kernels() if case.where == "kernels" else nullcontext():
        kinds, fast = _outcome(case, device, dtype, calls, fast=True)
    monkeypatch.setenv("REGARD_PLAIN", "1")
    plain_kinds, plain = _outcome(case, device, dtype)
    _, exact = _outcome(case, device, torch.float64)
    assert kinds == plain_kinds
    assert len(fast) == len(plain) == len(exact)
    for found, usual, right in zip(fast, plain, exact, strict=True):
        if dtype == torch.float64:
            torch.testing.assert_close(found, usual, rtol=1e-9, atol=1e-9)
        elif right.numel():
            floor = FLOOR * torch.finfo(dtype).eps * float(right.abs().max())
            distance, own = float((found - right).abs().max()), float((usual - right).abs().max())
            assert distance <= 2 * own + floor, f"{distance} from float64; plain torch is {own} away"


def test_scores_of_hypotheses_are_compared() -> None:
    """As tensors, so that their rounding errors are allowed for."""
    one = Hypothesis((5, 3), -1.0, -0.5, (-0.4, -0.6), torch.ones(1, 1, 2, 4), True)
    other = replace(one, score=-99.0, normalised=7.0, log_probabilities=(-0.4, -0.7))
    assert discrete([one]) == discrete([other])
    unequal = [not torch.equal(a, b) for a, b in zip(tensors([one]), tensors([other]), strict=True)]
    assert unequal == [True, True, True, False]
    assert discrete(one) != discrete(replace(one, tokens=(5, 4)))


@pytest.mark.parametrize("number", [0.1, np.float32(0.1), np.array([0.1, -np.inf]), torch.tensor(0.1)], ids=repr)
def test_floating_point_numbers_of_any_type_are_compared(number: Any) -> None:
    (found,) = tensors({"a": [number, 3]})
    assert found.tolist() == (number.tolist() if hasattr(number, "tolist") else number)
    assert discrete(np.array([1, 2])) == [1, 2]
    with pytest.raises(TypeError, match="does not compare a set"):
        discrete({3})


def test_every_call_must_choose_the_entry() -> None:
    """The last call is the one that is compared."""
    modes = iter([torch.no_grad, torch.enable_grad])

    def run() -> Tensor:
        with next(modes)():
            return additive_scores(torch.ones(1, 2), torch.ones(3, 2), torch.ones(2))

    case = Case("additive_scores_in_place", "gradients in the second call", lambda *_: Problem(run))
    with pytest.raises(AssertionError, match="call 1 ran the plain version"):
        _outcome(case, torch.device("cpu"), torch.float32, calls=2, fast=True)


def test_every_entry_has_a_case() -> None:
    import_module("regard.fast")
    entries = {
        entry.name
        for operation in registry.operations.values()
        for entry in operation.entries
        if entry.run.__module__.startswith("regard.")
    }
    assert entries == {case.entry for case in CASES}
