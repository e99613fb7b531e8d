"""The recurrence with the hand-written backward pass equals the plain loop, values and gradients."""

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from regard.attention.masking import masked_softmax
from regard.fast.recurrent.bahdanau_cpu import attend_and_recur
from regard.models.rnn.cells import gru_cell, lstm_cell

TARGET, BATCH, SOURCE, WIDTH, VALUE, UNITS = 5, 4, 6, 3, 7, 2


def plain_loop(
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    W_s: Tensor,
    v: Tensor,
    W_c: Tensor,
    U: Tensor,
    b_u: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same recurrence step by step, with autograd's gradients."""
    states, contexts, weights = [], [], []
    for gate in gates:
        weight = masked_softmax(torch.tanh((hidden @ W_s.T)[:, None] + keys) @ v, mask)
        context = (weight[:, None] @ values)[:, 0]
        given = gate + context @ W_c.T
        if cell is None:
            hidden = gru_cell(given, hidden @ U.T + b_u, hidden)
        else:
            hidden, cell = lstm_cell(given + hidden @ U.T + b_u, cell)
        states.append(hidden)
        contexts.append(context)
        weights.append(weight)
    return torch.stack(states), torch.stack(contexts), torch.stack(weights)


def arguments(kind: str) -> list[Tensor | None]:
    torch.manual_seed(3)
    gates = (3 if kind == "gru" else 4) * UNITS
    shapes = [
        (TARGET, BATCH, gates), (BATCH, UNITS), (BATCH, UNITS), (BATCH, SOURCE, WIDTH), (BATCH, SOURCE, VALUE), None,
        (WIDTH, UNITS), (WIDTH,), (gates, VALUE), (gates, UNITS), (gates,),
    ]  # fmt: skip
    made: list[Tensor | None] = [
        torch.randn(shape, dtype=torch.float64, requires_grad=True) if shape else None for shape in shapes
    ]
    if kind == "gru":
        made[2] = None
    mask = torch.arange(SOURCE) < torch.tensor([[6], [3], [1], [0]])
    made[5] = mask
    return made


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_values_and_gradients_equal_the_plain_loop(kind: str) -> None:
    made = arguments(kind)
    learned = [one for one in made if one is not None and one.requires_grad]
    found = []
    for operation in (plain_loop, attend_and_recur):
        outputs = operation(*made)
        torch.manual_seed(4)
        total = torch.stack([(output * torch.randn_like(output)).sum() for output in outputs]).sum()
        found.append([*outputs, *torch.autograd.grad(total, learned)])
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted, rtol=1e-10, atol=1e-12)


def test_a_blank_sentence_gets_zeros_and_no_nan() -> None:
    _, contexts, weights = attend_and_recur(*arguments("gru"))
    assert (contexts[:, 3] == 0).all()
    assert (weights[:, 3] == 0).all()
    assert not weights.isnan().any()


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_half_precision_stays_close(kind: str) -> None:
    """Products are rounded, the attention between them is not; W_s is left out, whose gradient cancels to noise."""
    made = [one if one is None or one.dtype == torch.bool else one.detach().float() for one in arguments(kind)]
    found = []
    for half in (False, True):
        given = [one.clone().requires_grad_() if one is not None and one.is_floating_point() else one for one in made]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            outputs = attend_and_recur(*given)
        torch.stack([output.float().square().sum() for output in outputs]).sum().backward()
        learned = [one for one in given[:6] + given[7:] if one is not None and one.requires_grad]
        found.append([*outputs, *(one.grad for one in learned)])
    assert found[1][0].dtype == torch.bfloat16
    for wanted, given in zip(*found, strict=True):
        scale = wanted.abs().max().item()
        torch.testing.assert_close(given.float(), wanted, rtol=0.03, atol=0.03 * scale)


def test_gradients_of_each_output_alone() -> None:
    made = arguments("lstm")
    learned = [one for one in made if one is not None and one.requires_grad]
    for place in range(3):
        found = [
            torch.autograd.grad(operation(*made)[place].square().sum(), learned, allow_unused=True)
            for operation in (plain_loop, attend_and_recur)
        ]
        for wanted, given, one in zip(*found, learned, strict=True):
            assert given is not None
            nothing = torch.zeros_like(one)
            torch.testing.assert_close(given, nothing if wanted is None else wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_gradients_of_zero_steps_are_zero(kind: str) -> None:
    made = arguments(kind)
    assert made[0] is not None
    made[0] = made[0][:0].detach().requires_grad_()
    outputs = attend_and_recur(*made)
    assert [len(output) for output in outputs] == [0, 0, 0]
    learned = [one for one in made if one is not None and one.requires_grad]
    gradients = torch.autograd.grad(torch.stack([output.sum() for output in outputs]).sum(), learned)
    for gradient, one in zip(gradients, learned, strict=True):
        assert gradient.shape == one.shape
        assert not gradient.any()


class LargestAllocation(TorchDispatchMode):
    """The number of elements of the largest tensor that is allocated."""

    elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = function(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.elements = max(self.elements, result.untyped_storage().nbytes() // result.element_size())
        return result


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_without_gradients_the_energies_of_one_step_are_kept_instead_of_all(kind: str) -> None:
    made = arguments(kind)
    with LargestAllocation() as training:
        wanted = attend_and_recur(*made)
    with torch.no_grad(), LargestAllocation() as scoring:
        given = attend_and_recur(*made)
    assert training.elements == TARGET * BATCH * SOURCE * WIDTH
    assert scoring.elements < training.elements
    torch.testing.assert_close(given, tuple(one.detach() for one in wanted), rtol=0, atol=0)
    assert made[0] is not None
    with torch.no_grad():
        assert [len(one) for one in attend_and_recur(made[0][:0], *made[1:])] == [0, 0, 0]
