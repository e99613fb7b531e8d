"""A GRU or LSTM run step by step, forward and backward, with buffers over all steps for what backward needs."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from regard.fast.recurrent.cell_equations import gru_backward, gru_forward, lstm_backward, lstm_forward


@runtime_checkable
class Steps(Protocol):
    """The steps of a recurrence, run one after the other, then backward from what `kept` holds."""

    states: Float[Tensor, "states batch units"]
    """The initial state and the state after each step."""
    kept: list[Tensor]
    """The other tensors that backward needs; `restore` takes `states` and `kept`."""
    first_cell_gradient: Float[Tensor, "batch units"] | None
    """The gradient of an LSTM's initial cell after `backward` of step 0; before that, of the cell reached so far."""

    @classmethod
    def restore(cls, states: Float[Tensor, "states batch units"], kept: Sequence[Tensor]) -> "Steps": ...

    def forward(
        self, t: int, given: Float[Tensor, "batch gates"], recurrent: Float[Tensor, "batch gates"]
    ) -> Float[Tensor, "batch units"]:
        """s_{t+1} from s_t and both parts of the gates' input; `given` may be overwritten."""
        ...

    def backward(
        self,
        t: int,
        d_state: Float[Tensor, "batch units"],
        d_given: Float[Tensor, "batch gates"],
        d_recurrent: Float[Tensor, "batch gates"],
    ) -> Float[Tensor, "batch units"] | None:
        """Fill the gradients of both gate inputs; a returned gradient reaches s_{t-1} past the gates."""
        ...


class GruSteps:
    first_cell_gradient: Tensor | None = None

    def __init__(self, steps: int, hidden: Float[Tensor, "batch units"]) -> None:
        batch, units = hidden.shape
        states = hidden.new_empty(steps + 1, batch, units)
        states[0] = hidden
        self._open(states, [hidden.new_empty(steps, batch, count * units) for count in (2, 1, 1)])

    @classmethod
    def restore(cls, states: Float[Tensor, "states batch units"], kept: Sequence[Tensor]) -> "GruSteps":
        steps = cls.__new__(cls)
        steps._open(states, kept)
        return steps

    def _open(self, states: Tensor, kept: Sequence[Tensor]) -> None:
        self.states, self.kept = states, list(kept)
        self._state = states.unbind(0)
        self._active, self._new, self._memory = (each.unbind(0) for each in kept)

    def forward(
        self, t: int, given: Float[Tensor, "batch gates"], recurrent: Float[Tensor, "batch gates"]
    ) -> Float[Tensor, "batch units"]:
        after = self._state[t + 1]
        self._memory[t].copy_(recurrent[:, 2 * after.size(-1) :])
        gru_forward(given, recurrent, self._state[t], self._active[t], self._new[t], after)
        return after

    def backward(
        self,
        t: int,
        d_state: Float[Tensor, "batch units"],
        d_given: Float[Tensor, "batch gates"],
        d_recurrent: Float[Tensor, "batch gates"],
    ) -> Float[Tensor, "batch units"]:
        kept = self._state[t], self._active[t], self._new[t], self._memory[t]
        return gru_backward(d_state, *kept, d_given, d_recurrent)


class LstmSteps:
    first_cell_gradient: Tensor | None = None

    def __init__(self, steps: int, hidden: Float[Tensor, "batch units"], cell: Float[Tensor, "batch units"]) -> None:
        batch, units = hidden.shape
        states, cells = (hidden.new_empty(steps + 1, batch, units) for _ in range(2))
        states[0], cells[0] = hidden, cell
        self._open(states, [cells, *(hidden.new_empty(steps, batch, count * units) for count in (4, 1))])

    @classmethod
    def restore(cls, states: Float[Tensor, "states batch units"], kept: Sequence[Tensor]) -> "LstmSteps":
        steps = cls.__new__(cls)
        steps._open(states, kept)
        steps.first_cell_gradient = torch.zeros_like(states[0])
        return steps

    def _open(self, states: Tensor, kept: Sequence[Tensor]) -> None:
        self.states, self.kept = states, list(kept)
        self._state = states.unbind(0)
        self._cell, self._gates, self._shown = (each.unbind(0) for each in kept)

    def forward(
        self, t: int, given: Float[Tensor, "batch gates"], recurrent: Float[Tensor, "batch gates"]
    ) -> Float[Tensor, "batch units"]:
        after = self._state[t + 1]
        gates = given.add_(recurrent)
        lstm_forward(gates, self._cell[t], self._gates[t], self._cell[t + 1], self._shown[t], after)
        return after

    def backward(
        self,
        t: int,
        d_state: Float[Tensor, "batch units"],
        d_given: Float[Tensor, "batch gates"],
        d_recurrent: Float[Tensor, "batch gates"],
    ) -> None:
        """Both gate inputs have the same gradient in the same memory; nothing reaches s_{t-1} past the gates."""
        assert self.first_cell_gradient is not None
        assert d_given.data_ptr() == d_recurrent.data_ptr()
        lstm_backward(d_state, self.first_cell_gradient, self._cell[t], self._gates[t], self._shown[t], d_given)
