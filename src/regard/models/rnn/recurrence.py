"""The Bahdanau recurrence as one differentiable operation with a hand-written backward pass.

Autograd walks the same loop but pays for it at every step: a graph node for each operation, zero-filled buffers for
each slice, and a full-size weight gradient that is added up step by step. Here the forward pass keeps what backward
needs in time-major buffers, the backward loop computes only what the previous step depends on, and every weight
gradient is ONE product over all steps at the end. `tests/models` holds it to autograd's gradients.

    P_t = [W_s; U] s_{t-1}                 q_t and the state's part of the gates, one product
    E_t = tanh(q_t + K),  e_t = E_t v      K = W_h h, projected once for the sentence
    α_t = softmax(e_t),   c_t = α_t H
    s_t = cell(x_t + C c_t, P_t, s_{t-1})  x_t = W_e y_{t-1} + b, one product for all steps

Backward, with δ for gradients (δx is what the cell gives for its input gates, δP = [δq; δu] for P):

    δc_t = ∂c_t + C' δx_t                  δα_t = H δc_t            δe_t = α_t (δα_t - α_t·δα_t)
    δq_t = v ∘ Σ_s δe_ts (1 - E_ts²)       δs_{t-1} += [W_s; U]' δP_t
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import linear

from regard.attention.additive.functional import quick_tanh_
from regard.attention.once import once
from regard.models.rnn.cell_backward import GruSteps, LstmSteps, Steps
from regard.models.rnn.fused.operation import Recurrence
from regard.models.rnn.fused.precision import fusible, working_dtype


def attend_and_recur(
    gates: Float[Tensor, "target batch gates"],
    hidden: Float[Tensor, "batch units"],
    cell: Float[Tensor, "batch units"] | None,
    keys: Float[Tensor, "batch source width"],
    values: Float[Tensor, "batch source value"],
    mask: Bool[Tensor, "batch source"],
    W_s: Float[Tensor, "width units"],
    v: Float[Tensor, " width"],
    W_c: Float[Tensor, "gates value"],
    U: Float[Tensor, "gates units"],
    b_u: Float[Tensor, " gates"],
) -> tuple[
    Float[Tensor, "target batch units"], Float[Tensor, "target batch value"], Float[Tensor, "target batch source"]
]:
    """States, contexts and weights of every step; a GRU where `cell` is None, else an LSTM; on a GPU in kernels.

    Under autocast everything runs in its precision but the weights, which are float32.
    """
    dtype = working_dtype(gates)
    gates, hidden, keys, values, W_s, v, W_c, U, b_u = (
        x.to(dtype).contiguous() for x in (gates, hidden, keys, values, W_s, v, W_c, U, b_u)
    )
    if fusible(gates):
        cell, both = None if cell is None else cell.float(), torch.cat([W_s, U])
        states, contexts, weights = Recurrence.apply(  # type: ignore[no-untyped-call]
            gates, hidden, cell, keys, values, mask.contiguous(), both, b_u, v, W_c
        )
        return states, contexts.transpose(0, 1), weights.transpose(0, 1)
    cell = None if cell is None else cell.to(dtype)
    with torch.autocast(gates.device.type, enabled=False):
        states, contexts, weights = _Recurrence.apply(  # type: ignore[no-untyped-call]
            gates, hidden, cell, keys, values, mask, W_s, v, W_c, U, b_u
        )
    return states, contexts, weights


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        gates: Tensor,
        hidden: Tensor,
        cell: Tensor | None,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        W_s: Tensor,
        v: Tensor,
        W_c: Tensor,
        U: Tensor,
        b_u: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        target, batch, _ = gates.shape
        source, width = keys.shape[1:]
        steps: Steps = GruSteps(target, hidden) if cell is None else LstmSteps(target, hidden, cell)
        both = torch.cat([W_s, U])
        bias = torch.cat([b_u.new_zeros(width), b_u])
        context_t = W_c.t()
        energy = keys.new_empty(target, batch, source, width)
        weights = keys.new_empty(target, batch, source, dtype=torch.promote_types(keys.dtype, torch.float32))
        contexts = values.new_empty(target, batch, values.size(-1))
        hidden_out, column = ~mask, v[:, None]  # as a matrix: a vector's product is slower in half precision
        blank = hidden_out.all(dim=-1, keepdim=True)
        anything = not bool(blank.any())
        state = hidden
        for t in range(target):
            product = linear(state, both, bias)
            torch.add(keys, product[:, None, :width], out=energy[t])
            scores = (quick_tanh_(energy[t]).view(-1, width) @ column).view(batch, source).to(weights.dtype)
            torch.softmax(scores.masked_fill_(hidden_out, torch.finfo(scores.dtype).min), dim=-1, out=weights[t])
            if not anything:
                weights[t].masked_fill_(blank, 0.0)
            torch.bmm(weights[t, :, None].to(values.dtype), values, out=contexts[t, :, None])
            state = steps.forward(t, torch.addmm(gates[t], contexts[t], context_t), product[:, width:])
        ctx.save_for_backward(keys, values, v, both, W_c, energy, weights, contexts, steps.states, *steps.kept)
        ctx.gru = cell is None
        return steps.states[1:], contexts, weights

    @staticmethod
    @once
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        d_states, d_contexts, d_weights = outside
        keys, values, v, both, W_c, energy, weights, contexts, states, *kept = ctx.saved_tensors
        target, batch, _, width = energy.shape
        units = states.size(-1)
        steps: Steps = (GruSteps if ctx.gru else LstmSteps).restore(states, kept)
        one, slope, d_keys = energy.new_ones(()), torch.empty_like(keys), torch.zeros_like(keys)
        d_product = keys.new_empty(target, batch, both.size(0))
        # An LSTM adds both parts of its gates: they have one gradient. A GRU's reset gate stands between them.
        d_input = keys.new_empty(target, batch, both.size(0) - width) if ctx.gru else d_product[..., width:]
        d_context = torch.empty_like(contexts)
        d_score = torch.empty_like(weights)
        d_state = states.new_zeros(batch, units)
        values_t = values.transpose(1, 2)
        for t in reversed(range(target)):
            past = steps.backward(t, d_state.add_(d_states[t]), d_input[t], d_product[t, :, width:])
            torch.addmm(d_contexts[t], d_input[t], W_c, out=d_context[t])
            # A row times a matrix: the same product as a matrix times a column is sixteen times slower on the CPU.
            d_weight = torch.bmm(d_context[t, :, None], values_t)[:, 0].to(weights.dtype).add_(d_weights[t])
            inner = (weights[t] * d_weight).sum(dim=-1, keepdim=True)
            torch.mul(weights[t], d_weight.sub_(inner), out=d_score[t])
            torch.addcmul(one, energy[t], energy[t], value=-1, out=slope)  # 1 - tanh²
            rounded = d_score[t].to(keys.dtype)
            torch.mul(torch.bmm(rounded[:, None], slope)[:, 0], v, out=d_product[t, :, :width])
            d_keys.addcmul_(slope, rounded[:, :, None])
            d_state = d_product[t] @ both if past is None else past.addmm_(d_product[t], both)
        flat = d_product.view(target * batch, -1)
        d_both = flat.t() @ states[:-1].reshape(target * batch, units)
        d_values = torch.bmm(weights.permute(1, 2, 0).to(values.dtype), d_context.transpose(0, 1))
        d_v = torch.mv(energy.view(-1, width).t(), d_score.view(-1).to(energy.dtype))
        d_W_c = d_input.flatten(0, 1).t() @ contexts.view(target * batch, -1)
        d_bias = flat[:, width:].sum(dim=0)
        return (
            d_input, d_state, steps.first_cell_gradient, d_keys.mul_(v), d_values, None,
            d_both[:width], d_v, d_W_c, d_both[width:], d_bias,
        )  # fmt: skip
