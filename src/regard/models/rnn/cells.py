"""One step of a stack of GRU or LSTM layers, on the parameters of torch's own nn.GRU or nn.LSTM, or of Gru2014."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from regard.registry import replaceable


@replaceable
def advance_cells(
    recurrence: nn.Module,
    inputs: Float[Tensor, "batch input"],
    hidden: tuple[Float[Tensor, "batch units"], ...],
    cell: tuple[Float[Tensor, "batch units"], ...] | None,
    mask: Float[Tensor, "between batch units"] | None = None,
) -> tuple[tuple[Float[Tensor, "batch units"], ...], tuple[Float[Tensor, "batch units"], ...] | None]:
    """One step through all layers; the dropout `mask` multiplies the output of each layer but the last."""
    new_hidden: list[Tensor] = []
    new_cell: list[Tensor] = []
    for index, state in enumerate(hidden):
        if index:
            inputs = new_hidden[-1] if mask is None else new_hidden[-1] * mask[index - 1]
        W, U, b = (getattr(recurrence, f"{name}_l{index}") for name in PARAMETERS[:3])
        x, b_u = linear(inputs, W, b), getattr(recurrence, f"{PARAMETERS[3]}_l{index}", None)
        if isinstance(recurrence, nn.GRU):
            new_hidden.append(gru_cell(x, linear(state, U, b_u), state))
        elif cell is None:
            new_hidden.append(gru_2014_cell(x, U, state))
        else:
            s, c = lstm_cell(x + linear(state, U, b_u), cell[index])
            new_hidden.append(s)
            new_cell.append(c)
    return tuple(new_hidden), None if cell is None else tuple(new_cell)


PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
"""torch's names of W, U, b and b_u, without the number of the layer; Gru2014 has no b_u."""


def gru_cell(
    x: Float[Tensor, "batch three_units"], u: Float[Tensor, "batch three_units"], state: Float[Tensor, "batch units"]
) -> Float[Tensor, "batch units"]:
    """torch's GRU: the reset gate acts on the product U s; the paper's (`gru_2014_cell`) acts on s before it.

    x = W e + b,  u = U s + b_u

    r = σ(x_r + u_r)    z = σ(x_z + u_z)    n = tanh(x_n + r ∘ u_n)    s' = (1 - z) ∘ n + z ∘ s
    """
    x_r, x_z, x_n = x.chunk(3, dim=-1)
    u_r, u_z, u_n = u.chunk(3, dim=-1)
    r, z = torch.sigmoid(x_r + u_r), torch.sigmoid(x_z + u_z)
    n = torch.tanh(x_n + r * u_n)
    # Under autocast the gates are computed in a lower precision than the state is kept in.
    z, n = z.to(state.dtype), n.to(state.dtype)
    return (1 - z) * n + z * state


def gru_2014_cell(
    x: Float[Tensor, "batch three_units"],
    U: Float[Tensor, "three_units units"],
    state: Float[Tensor, "batch units"],
) -> Float[Tensor, "batch units"]:
    """The GRU of Bahdanau et al. 2014, appendix A.1.1 (Cho et al. 2014, eq. 5 to 8): reset before the product.

    x = W e + C c + b

    r = σ(x_r + U_r s)    z = σ(x_z + U_z s)    n = tanh(x_n + U_n (r ∘ s))    s' = (1 - z) ∘ s + z ∘ n
    """
    x_r, x_z, x_n = x.chunk(3, dim=-1)
    U_r, U_z, U_n = U.chunk(3)
    r, z = torch.sigmoid(x_r + linear(state, U_r)), torch.sigmoid(x_z + linear(state, U_z))
    n = torch.tanh(x_n + linear(r * state, U_n))
    z, n = z.to(state.dtype), n.to(state.dtype)
    return (1 - z) * state + z * n


def lstm_cell(
    gates: Float[Tensor, "batch four_units"], cell: Float[Tensor, "batch units"]
) -> tuple[Float[Tensor, "batch units"], Float[Tensor, "batch units"]]:
    """gates = W e + b + U s + b_u

    i, f, g, o = gates    c' = σ(f) ∘ c + σ(i) ∘ tanh(g)    s' = σ(o) ∘ tanh(c')
    """
    i, f, g, o = gates.chunk(4, dim=-1)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell
