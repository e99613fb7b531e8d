"""One step of a GRU or LSTM, its products done, as one operation with a hand-written backward pass.

Autograd records a dozen operations for a cell and runs twice as many backwards; these are seven and ten. States and
cells keep their own precision, which may be finer than that of the gates.
"""

from typing import Any

import torch
from torch import Tensor

from regard.attention.once import once


class GruCell(torch.autograd.Function):
    """r, z = σ(x + u)   n = tanh(x_n + r ∘ u_n)   s' = n + z ∘ (s - n), from x, u and s."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        units = state.size(-1)
        switches = torch.add(given[:, : 2 * units], recurrent[:, : 2 * units]).sigmoid_()
        new = torch.addcmul(given[:, 2 * units :], switches[:, :units], recurrent[:, 2 * units :]).tanh_()
        ctx.save_for_backward(switches, new, recurrent, state)
        ctx.kinds = given.dtype, recurrent.dtype
        return torch.lerp(new.to(state.dtype), state, switches[:, units:].to(state.dtype))

    @staticmethod
    @once
    def backward(ctx: Any, d_state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        switches, new, recurrent, state = ctx.saved_tensors
        units = new.size(-1)
        past = d_state * switches[:, units:]
        d_new = (d_state - past).mul_(torch.addcmul(new.new_ones(()), new, new, value=-1))
        d_recurrent = torch.empty_like(recurrent)
        d_switches = d_recurrent[:, : 2 * units]
        torch.mul(d_new, recurrent[:, 2 * units :], out=d_switches[:, :units])
        torch.mul(d_state, state - new, out=d_switches[:, units:])
        d_switches.mul_(torch.addcmul(switches, switches, switches, value=-1))
        torch.mul(d_new, switches[:, :units], out=d_recurrent[:, 2 * units :])
        d_given = torch.cat([d_switches, d_new.to(recurrent.dtype)], dim=-1)
        return d_given.to(ctx.kinds[0]), d_recurrent, past


class LstmCell(torch.autograd.Function):
    """c' = σ(f) ∘ c + σ(i) ∘ tanh(g)   s' = σ(o) ∘ tanh(c'), from the gates i, f, g, o and c."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        units = cell.size(-1)
        active = torch.sigmoid(gates)
        torch.tanh(gates[:, 2 * units : 3 * units], out=active[:, 2 * units : 3 * units])
        into, forget, new, out = active.chunk(4, dim=-1)
        after = (forget * cell).addcmul_(into, new)
        shown = torch.tanh(after)
        ctx.save_for_backward(active, cell, shown)
        return out * shown, after

    @staticmethod
    @once
    def backward(ctx: Any, d_state: Tensor, d_after: Tensor) -> tuple[Tensor, Tensor]:
        active, cell, shown = ctx.saved_tensors
        into, forget, new, out = active.chunk(4, dim=-1)
        one = shown.new_ones(())
        d_cell = torch.addcmul(d_after, d_state * out, torch.addcmul(one, shown, shown, value=-1))
        d_gates = torch.addcmul(active, active, active, value=-1)  # σ(1 - σ)
        d_into, d_forget, d_new, d_out = d_gates.chunk(4, dim=-1)
        torch.addcmul(one.to(new.dtype), new, new, value=-1, out=d_new)
        d_into.mul_(d_cell * new)
        d_forget.mul_(d_cell * cell)
        d_new.mul_(d_cell * into)
        d_out.mul_(d_state * shown)
        return d_gates, d_cell * forget
