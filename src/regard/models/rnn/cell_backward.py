"""GRU and LSTM steps that keep what their own backward pass needs, in buffers for all steps of a sequence."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.additive.functional import quick_tanh_


@runtime_checkable
class Steps(Protocol):
    """A cell run forward and backward step by step; `states` has the first state in front."""

    states: Float[Tensor, "steps batch units"]
    first_cell_gradient: Tensor | None

    @property
    def kept(self) -> list[Tensor]: ...

    @classmethod
    def restore(cls, states: Tensor, kept: Sequence[Tensor]) -> "Steps": ...

    def forward(self, t: int, given: Tensor, recurrent: Tensor) -> Tensor: ...

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> Tensor | None: ...


class GruSteps:
    """r, z = σ(x + u)   n = tanh(x_n + r ∘ u_n)   s' = n + z ∘ (s - n)"""

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
        units = self.new.size(-1)
        switches, new, memory = self.switches[t], self.new[t], self.memory[t]
        torch.add(given[:, : 2 * units], recurrent[:, : 2 * units], out=switches).sigmoid_()
        memory.copy_(recurrent[:, 2 * units :])
        tanh_(torch.addcmul(given[:, 2 * units :], switches[:, :units], memory, out=new))
        return torch.lerp(new, self.states[t], switches[:, units:], out=self.states[t + 1])

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> Tensor:
        """Fill the gradients of both gate inputs; what is returned reaches s_{t-1} past the gates."""
        units = self.new.size(-1)
        new, switches = self.new[t], self.switches[t]
        reset, update = switches[:, :units], switches[:, units:]
        past = d_state * update
        d_new = (d_state - past).mul_(torch.addcmul(new.new_ones(()), new, new, value=-1))
        d_switch = d_given[:, : 2 * units]
        torch.mul(d_new, self.memory[t], out=d_switch[:, :units])
        torch.mul(d_state, self.states[t] - new, out=d_switch[:, units:])
        d_switch.mul_(torch.addcmul(switches, switches, switches, value=-1))
        d_given[:, 2 * units :] = d_new
        d_recurrent[:, : 2 * units] = d_switch
        torch.mul(d_new, reset, out=d_recurrent[:, 2 * units :])
        return past


class LstmSteps:
    """i, f, o = σ(x + u)   g = tanh(x_g + u_g)   c' = f ∘ c + i ∘ g   s' = o ∘ tanh(c')"""

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
        units = self.shown.size(-1)
        gates, cell = self.gates[t], self.cells[t + 1]
        torch.add(given, recurrent, out=gates)
        into, forget, new, out = gates.chunk(4, dim=-1)
        if gates.dtype.itemsize > 2:  # tanh x = 2σ(2x) - 1: all four gates in one operation
            new.mul_(2)
            gates.sigmoid_()
            new.mul_(2).sub_(1)
        else:
            gates[:, : 2 * units].sigmoid_()
            new.tanh_()
            out.sigmoid_()
        torch.mul(forget, self.cells[t], out=cell).addcmul_(into, new)
        tanh_(self.shown[t].copy_(cell))
        return torch.mul(out, self.shown[t], out=self.states[t + 1])

    def backward(self, t: int, d_state: Tensor, d_given: Tensor, d_recurrent: Tensor) -> None:
        """Both gate inputs have one gradient, and may have one place; nothing reaches s_{t-1} past the gates."""
        into, forget, new, out = self.gates[t].chunk(4, dim=-1)
        d_into, d_forget, d_new, d_out = d_given.chunk(4, dim=-1)
        shown = self.shown[t]
        d_cell = self.first_cell_gradient
        assert d_cell is not None
        d_cell.addcmul_(d_state * out, torch.addcmul(shown.new_ones(()), shown, shown, value=-1))
        torch.mul(d_state * shown, torch.addcmul(out, out, out, value=-1), out=d_out)
        torch.mul(d_cell * new, torch.addcmul(into, into, into, value=-1), out=d_into)
        torch.mul(d_cell * self.cells[t], torch.addcmul(forget, forget, forget, value=-1), out=d_forget)
        torch.mul(d_cell * into, torch.addcmul(new.new_ones(()), new, new, value=-1), out=d_new)
        d_cell.mul_(forget)
        if d_recurrent.data_ptr() != d_given.data_ptr():
            d_recurrent.copy_(d_given)


def tanh_(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """In place; by way of the sigmoid where that is quicker and does not round too much."""
    return quick_tanh_(x) if x.dtype.itemsize > 2 else x.tanh_()
