"""The GRU and LSTM cell after their matrix products, forward and backward, in as few torch operations as possible.

The decoder's recurrence (`bahdanau_cpu.py`) and the encoder's (`encoder_packed.py`) call them with buffers for all
steps, `cell_functions.py` and `step_loop.py` without: torch's `out=None` allocates a tensor. Backward needs what
forward returned. Gradients of the gates have the dtype of the tensor they are written into.
"""

import torch
from jaxtyping import Float
from torch import Tensor

MANY = 4096
"""Elements of a tensor from which tanh computed through the sigmoid is faster."""


def gru_forward(
    given: Float[Tensor, "rows gates"],
    recurrent: Float[Tensor, "rows gates"],
    state: Float[Tensor, "rows units"],
    active: Float[Tensor, "rows both_gates"] | None = None,
    new: Float[Tensor, "rows units"] | None = None,
    after: Float[Tensor, "rows units"] | None = None,
) -> tuple[Float[Tensor, "rows both_gates"], Float[Tensor, "rows units"], Float[Tensor, "rows units"]]:
    """r, z = σ(x + u)   n = tanh(x_n + r ∘ u_n)   s' = n + z ∘ (s - n): [r z], n and s'."""
    units = state.size(-1)
    active = torch.add(given[:, : 2 * units], recurrent[:, : 2 * units], out=active).sigmoid_()
    new = tanh_(torch.addcmul(given[:, 2 * units :], active[:, :units], recurrent[:, 2 * units :], out=new))
    if new.dtype == state.dtype:
        return active, new, torch.lerp(new, state, active[:, units:], out=after)
    return active, new, torch.lerp(new.to(state.dtype), state, active[:, units:].to(state.dtype), out=after)


def gru_backward(
    d_after: Float[Tensor, "rows units"],
    state: Float[Tensor, "rows units"],
    active: Float[Tensor, "rows both_gates"],
    new: Float[Tensor, "rows units"],
    memory: Float[Tensor, "rows units"],
    d_given: Float[Tensor, "rows gates"],
    d_recurrent: Float[Tensor, "rows gates"],
) -> Float[Tensor, "rows units"]:
    """Fill the gradients of x and u; the returned gradient reaches s past the gates. `memory` is u_n."""
    units = new.size(-1)
    past = d_after * active[:, units:]
    d_new, d_gates = d_given[:, 2 * units :], d_given[:, : 2 * units]
    open_ = d_after - past
    torch.addcmul(open_, open_ * new, new, value=-1, out=d_new)  # 1 - n²
    torch.mul(d_new, memory, out=d_gates[:, :units])
    torch.mul(d_after, state - new, out=d_gates[:, units:])
    d_gates.mul_(torch.addcmul(active, active, active, value=-1))
    d_recurrent[:, : 2 * units] = d_gates
    torch.mul(d_new, active[:, :units], out=d_recurrent[:, 2 * units :])
    return past


def lstm_forward(
    gates: Float[Tensor, "rows gates"],
    cell: Float[Tensor, "rows units"],
    active: Float[Tensor, "rows gates"] | None = None,
    after: Float[Tensor, "rows units"] | None = None,
    shown: Float[Tensor, "rows units"] | None = None,
    state: Float[Tensor, "rows units"] | None = None,
) -> tuple[
    Float[Tensor, "rows gates"], Float[Tensor, "rows units"], Float[Tensor, "rows units"], Float[Tensor, "rows units"]
]:
    """i, f, o = σ(gates)   g = tanh(gate)   c' = f ∘ c + i ∘ g   s' = o ∘ tanh(c'): [i f g o], c', tanh(c') and s'."""
    active = torch.sigmoid(gates, out=active)
    into, forget, new, out = active.chunk(4, dim=-1)
    tanh(gates[:, 2 * cell.size(-1) : 3 * cell.size(-1)], out=new)
    after = torch.mul(forget, cell, out=after).addcmul_(into, new)
    shown = tanh(after, out=shown)
    return active, after, shown, torch.mul(out, shown, out=state)


def lstm_backward(
    d_state: Float[Tensor, "rows units"],
    d_after: Float[Tensor, "rows units"],
    cell: Float[Tensor, "rows units"],
    active: Float[Tensor, "rows gates"],
    shown: Float[Tensor, "rows units"],
    d_gates: Float[Tensor, "rows gates"],
) -> Float[Tensor, "rows units"]:
    """Fill the gates' gradients; the gradient of c' is turned in place into that of c and returned."""
    into, forget, new, out = active.chunk(4, dim=-1)
    one = shown.new_ones(())
    d_after.addcmul_(d_state * out, torch.addcmul(one, shown, shown, value=-1))
    torch.addcmul(active, active, active, value=-1, out=d_gates)  # σ(1 - σ)
    d_into, d_forget, d_new, d_out = d_gates.chunk(4, dim=-1)
    torch.addcmul(one.to(new.dtype), new, new, value=-1, out=d_new)
    d_into.mul_(d_after * new)
    d_forget.mul_(d_after * cell)
    d_new.mul_(d_after * into)
    d_out.mul_(d_state * shown)
    return d_after.mul_(forget)


def tanh_(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """tanh in place; see `_by_sigmoid`."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1) if _by_sigmoid(x) else x.tanh_()


def tanh(x: Float[Tensor, "*shape"], out: Float[Tensor, "*shape"] | None) -> Float[Tensor, "*shape"]:
    """tanh into `out`; see `_by_sigmoid`."""
    return torch.mul(x, 2, out=out).sigmoid_().mul_(2).sub_(1) if _by_sigmoid(x) else torch.tanh(x, out=out)


def _by_sigmoid(x: Tensor) -> bool:
    """Whether tanh x = 2 σ(2x) - 1 is faster: torch's CPU sigmoid is vectorised, its tanh is six times slower.

    Not for few elements, where the operations themselves cost more, nor in half precision, whose sigmoid has no digits
    left near ½ for a small x.
    """
    return x.numel() >= MANY and x.device.type == "cpu" and x.dtype.itemsize > 2
