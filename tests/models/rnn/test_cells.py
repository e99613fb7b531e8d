"""One step of stacked cells against torch's own nn.GRU and nn.LSTM."""

import pytest
import torch
from torch import nn

from regard.models.rnn.cells import advance_cells, gru_cell

EXACT = {"atol": 1e-12, "rtol": 1e-12}


def library(cell: str, layers: int) -> nn.GRU | nn.LSTM:
    torch.manual_seed(layers)
    made = (nn.GRU if cell == "gru" else nn.LSTM)(7, 5, num_layers=layers)
    return made.double()


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_steps_equal_the_library_over_the_sequence(cell: str, layers: int) -> None:
    """States and gradients."""
    recurrence = library(cell, layers)
    inputs = torch.randn(6, 3, 7, dtype=torch.float64)
    hidden = torch.randn(layers, 3, 5, dtype=torch.float64)
    memory = torch.randn(layers, 3, 5, dtype=torch.float64) if cell == "lstm" else None
    wanted, final = recurrence(inputs, hidden if memory is None else (hidden, memory))
    state, kept, outputs = hidden.unbind(0), None if memory is None else memory.unbind(0), []
    for word in inputs:
        state, kept = advance_cells(recurrence, word, state, kept)
        outputs.append(state[-1])
    found = torch.stack(outputs)
    torch.testing.assert_close(found, wanted, **EXACT)
    torch.testing.assert_close(torch.stack(state), final if memory is None else final[0], **EXACT)
    if kept is not None:
        torch.testing.assert_close(torch.stack(kept), final[1], **EXACT)
    gradients = (torch.autograd.grad(one.square().sum(), list(recurrence.parameters())) for one in (found, wanted))
    for gradient, right in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, right, **EXACT)


def test_dropout_acts_between_layers_only() -> None:
    recurrence, state = library("gru", 3), tuple(torch.zeros(3, 2, 5, dtype=torch.float64))
    inputs, mask = torch.randn(2, 7, dtype=torch.float64), torch.ones(2, 2, 5, dtype=torch.float64)
    plain, _ = advance_cells(recurrence, inputs, state, None)
    same, _ = advance_cells(recurrence, inputs, state, None, mask)
    mask[1] = 0
    after, _ = advance_cells(recurrence, inputs, state, None, mask)
    assert [torch.equal(one, other) for one, other in zip(plain, same, strict=True)] == [True, True, True]
    assert [torch.equal(one, other) for one, other in zip(plain, after, strict=True)] == [True, True, False]


def test_a_state_keeps_its_precision_among_coarser_gates() -> None:
    """As under bf16 autocast."""
    half = {"dtype": torch.bfloat16}
    assert gru_cell(torch.randn(2, 15, **half), torch.randn(2, 15, **half), torch.randn(2, 5)).dtype == torch.float32


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_states_stay_float32_through_an_autocast_step(cell: str) -> None:
    state = (torch.zeros(2, 5),)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        after, _ = advance_cells(library(cell, 1).float(), torch.randn(2, 7), state, state if cell == "lstm" else None)
    assert after[0].dtype == torch.float32
    assert after[0].isfinite().all()
