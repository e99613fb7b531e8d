"""Our step of stacked cells against torch's own nn.GRU and nn.LSTM."""

import pytest
import torch
from torch import nn

from regard.models.rnn.cells import gru_step, ready, recur

EXACT = {"atol": 1e-12, "rtol": 1e-12}


def library(cell: str, layers: int) -> nn.GRU | nn.LSTM:
    torch.manual_seed(layers)
    made = (nn.GRU if cell == "gru" else nn.LSTM)(7, 5, num_layers=layers)
    return made.double()


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("parts", [(7,), (4, 3), (3, 0, 4), (2, 4, 1)])
def test_steps_are_the_library_run_over_the_sequence(cell: str, layers: int, parts: tuple[int, ...]) -> None:
    recurrence = library(cell, layers)
    inputs = torch.randn(6, 3, 7, dtype=torch.float64)
    hidden = torch.randn(layers, 3, 5, dtype=torch.float64)
    memory = torch.randn(layers, 3, 5, dtype=torch.float64) if cell == "lstm" else None
    wanted, final = recurrence(inputs, hidden if memory is None else (hidden, memory))
    stack = ready(recurrence, parts)
    state, kept, outputs = hidden.unbind(0), None if memory is None else memory.unbind(0), []
    for word in inputs:
        gates = stack[0].bias.expand(3, -1)
        for columns, piece in zip(stack[0].inputs, word.split(list(parts), dim=1), strict=True):
            gates = gates + piece @ columns.t()
        state, kept = recur(gates, state, kept, stack)
        outputs.append(state[-1])
    torch.testing.assert_close(torch.stack(outputs), wanted, **EXACT)
    torch.testing.assert_close(torch.stack(state), final if memory is None else final[0], **EXACT)
    if kept is not None:
        torch.testing.assert_close(torch.stack(kept), final[1], **EXACT)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_gradients_reach_the_library_s_own_parameters(cell: str) -> None:
    """And are those the library's own pass gives."""
    recurrence, inputs = library(cell, 2), torch.randn(4, 3, 7, dtype=torch.float64)
    recurrence(inputs)[0].square().sum().backward()
    wanted = [parameter.grad.clone() for parameter in recurrence.parameters() if parameter.grad is not None]
    recurrence.zero_grad()
    stack, state = ready(recurrence, (7,)), tuple(torch.zeros(2, 3, 5, dtype=torch.float64))
    memory = state if cell == "lstm" else None
    total = torch.zeros((), dtype=torch.float64)
    for word in inputs:
        gates = torch.nn.functional.linear(word, stack[0].inputs[0], stack[0].bias)
        state, memory = recur(gates, state, memory, stack)
        total = total + state[-1].square().sum()
    total.backward()
    for parameter, gradient in zip(recurrence.parameters(), wanted, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, **EXACT)


def test_dropout_acts_between_layers_only() -> None:
    stack, state = ready(library("gru", 3), (7,)), tuple(torch.zeros(3, 2, 5, dtype=torch.float64))
    gates, kept = torch.randn(2, 15, dtype=torch.float64), torch.ones(2, 2, 5, dtype=torch.float64)
    plain, _ = recur(gates, state, None, stack)
    same, _ = recur(gates, state, None, stack, kept)
    kept[1] = 0
    after, _ = recur(gates, state, None, stack, kept)
    assert [torch.equal(one, other) for one, other in zip(plain, same, strict=True)] == [True, True, True]
    assert [torch.equal(one, other) for one, other in zip(plain, after, strict=True)] == [True, True, False]


def test_a_state_keeps_its_precision_among_coarser_gates() -> None:
    """As under bf16 autocast."""
    half = {"dtype": torch.bfloat16}
    state = gru_step(torch.randn(2, 15, **half), torch.randn(2, 5), torch.randn(15, 5), torch.randn(15))
    assert state.dtype == torch.float32


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_states_stay_float32_through_an_autocast_step(cell: str) -> None:
    recurrence = library(cell, 1).float()
    stack, state = ready(recurrence, (7,)), (torch.zeros(2, 5),)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        gates = torch.nn.functional.linear(torch.randn(2, 7), stack[0].inputs[0], stack[0].bias)
        after, _ = recur(gates, state, state if cell == "lstm" else None, stack)
    assert gates.dtype == torch.bfloat16
    assert after[0].isfinite().all()
