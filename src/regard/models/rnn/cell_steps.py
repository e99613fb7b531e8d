"""A GRU or LSTM run step by step, forward and backward: what backward needs is kept in buffers for all steps."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from regard.models.rnn.cell_equations import gru_backward, gru_forward, lstm_backward, lstm_forward


@runtime_checkable
class Steps(Protocol):
    """`states` has the first state in front."""

    states: Float[Tensor, "steps batch units"]
    first_cell_gradient: Tensor | None

    @property
    def kept(self) -> list[Tensor]: ...

    @classmethod
    def restore(cls, states: Tensor, kept: Sequence[Tensor]) -> "Steps": ...

    def forward(self, t: int, given: Tensor, recurrent: Tensor) -> Tensor: ...

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> Tensor | None:
        """Fill the gradients of both gate inputs; what is returned, if anything, reaches s_{t-1} past the gates."""
        ...


class GruSteps:
    first_cell_gradient: Tensor | None = None

    def __init__(self, steps: int, hidden: Tensor) -> None:
        batch, units = hidden.shape
        self.states = hidden.new_empty(steps + 1, batch, units)
        self.states[0] = hidden
        self.switches = hidden.new_empty(steps, batch, 2 * units)
        self.new = hidden.new_empty(steps, batch, units)
        self.memory = hidden.new_empty(steps, batch, units)

    @property
    def kept(self) -> list[Tensor]:
        return [self.switches, self.new, self.memory]

    @classmethod
    def restore(cls, states: Tensor, kept: Sequence[Tensor]) -> "GruSteps":
        steps = cls.__new__(cls)
        steps.states = states
        steps.switches, steps.new, steps.memory = kept
        return steps

    def forward(self, t: int, given: Tensor, recurrent: Tensor) -> Tensor:
        after = self.states[t + 1]
        self.memory[t] = recurrent[:, 2 * after.size(-1) :]
        gru_forward(given, recurrent, self.states[t], self.switches[t], self.new[t], after)
        return after

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> Tensor:
        state, switches, new, memory = self.states[t], self.switches[t], self.new[t], self.memory[t]
        return gru_backward(d_state, state, switches, new, memory, d_given, d_recurrent)


class LstmSteps:
    def __init__(self, steps: int, hidden: Tensor, cell: Tensor) -> None:
        batch, units = hidden.shape
        self.states = hidden.new_empty(steps + 1, batch, units)
        self.states[0] = hidden
        self.cells = hidden.new_empty(steps + 1, batch, units)
        self.cells[0] = cell
        self.gates = hidden.new_empty(steps, batch, 4 * units)
        self.shown = hidden.new_empty(steps, batch, units)
        self.first_cell_gradient: Tensor | None = None

    @property
    def kept(self) -> list[Tensor]:
        return [self.cells, self.gates, self.shown]

    @classmethod
    def restore(cls, states: Tensor, kept: Sequence[Tensor]) -> "LstmSteps":
        steps = cls.__new__(cls)
        steps.states = states
        steps.cells, steps.gates, steps.shown = kept
        steps.first_cell_gradient = torch.zeros_like(states[0])
        return steps

    def forward(self, t: int, given: Tensor, recurrent: Tensor) -> Tensor:
        after = self.states[t + 1]
        lstm_forward(given.add_(recurrent), self.cells[t], self.gates[t], self.cells[t + 1], self.shown[t], after)
        return after

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> None:
        """Both gate inputs have one gradient, and one place; nothing reaches s_{t-1} past the gates."""
        assert self.first_cell_gradient is not None
        assert d_given.data_ptr() == d_recurrent.data_ptr()
        lstm_backward(d_state, self.first_cell_gradient, self.cells[t], self.gates[t], self.shown[t], d_given)
