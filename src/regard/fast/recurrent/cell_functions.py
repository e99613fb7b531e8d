"""One step of a GRU or LSTM cell, after its products, as an autograd function with a hand-written backward pass.

Autograd records a dozen operations for a cell and runs twice as many backward; these are seven and ten. States and
cells keep their own dtype, which under autocast is wider than that of the gates.
"""

from typing import Any

import torch
from torch import Tensor

from regard.fast.first_order import first_order_only
from regard.fast.recurrent.cell_equations import gru_backward, gru_forward, lstm_backward, lstm_forward


class GruCell(torch.autograd.Function):
    """s' from x, u and s."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        active, new, after = gru_forward(given, recurrent, state)
        ctx.save_for_backward(state, active, new, recurrent)
        ctx.kind = given.dtype
        return after

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_after: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state, active, new, recurrent = ctx.saved_tensors
        d_recurrent = torch.empty_like(recurrent)
        d_given = torch.empty_like(recurrent, dtype=ctx.kind)
        memory = recurrent[:, 2 * new.size(-1) :]
        past = gru_backward(d_after, state, active, new, memory, d_given, d_recurrent)
        return d_given, d_recurrent, past


class LstmCell(torch.autograd.Function):
    """s' and c' from the gates and c."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        active, after, shown, state = lstm_forward(gates, cell)
        ctx.save_for_backward(cell, active, shown)
        return state, after

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_state: Tensor, d_after: Tensor) -> tuple[Tensor, Tensor]:
        cell, active, shown = ctx.saved_tensors
        d_gates = torch.empty_like(active)
        return d_gates, lstm_backward(d_state, d_after.clone(), cell, active, shown, d_gates)
