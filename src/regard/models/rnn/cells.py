"""One step of a GRU or LSTM from gates whose input product is already known.

torch's own cells multiply the whole input at every step. Here the part that comes from the embedding is computed
for all steps at once, before the loop, and handed in as `gates`.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def gru_step(
    gates: Float[Tensor, "batch three_units"],
    hidden: Float[Tensor, "batch units"],
    weight: Float[Tensor, "three_units units"],
    bias: Float[Tensor, " three_units"],
) -> Float[Tensor, "batch units"]:
    """torch's GRU: the reset gate acts on the product U s (the paper's acts on s before it).

    r, z = σ(gates + U s)     n = tanh(gates_n + r ∘ (U_n s + b_n))     s' = (1 - z) ∘ n + z ∘ s
    """
    units = hidden.size(-1)
    recurrent = F.linear(hidden, weight, bias)
    reset, update = torch.sigmoid(gates[:, : 2 * units] + recurrent[:, : 2 * units]).chunk(2, dim=-1)
    new = torch.tanh(torch.addcmul(gates[:, 2 * units :], reset, recurrent[:, 2 * units :]))
    return torch.lerp(new, hidden, update)


def lstm_step(
    gates: Float[Tensor, "batch four_units"],
    hidden: Float[Tensor, "batch units"],
    cell: Float[Tensor, "batch units"],
    weight: Float[Tensor, "four_units units"],
    bias: Float[Tensor, " four_units"],
) -> tuple[Float[Tensor, "batch units"], Float[Tensor, "batch units"]]:
    """i, f, g, o = gates + U s     c' = σ(f) ∘ c + σ(i) ∘ tanh(g)     s' = σ(o) ∘ tanh(c')"""
    units = hidden.size(-1)
    total = gates + F.linear(hidden, weight, bias)
    into, forget = torch.sigmoid(total[:, : 2 * units]).chunk(2, dim=-1)
    cell = torch.addcmul(forget * cell, into, torch.tanh(total[:, 2 * units : 3 * units]))
    return torch.sigmoid(total[:, 3 * units :]) * torch.tanh(cell), cell
