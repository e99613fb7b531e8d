"""The Bahdanau recurrence as one differentiable operation with a hand-written backward pass, in torch operations.

Autograd's overhead for the same loop: a graph node for each operation, zero-filled buffers for each slice, and a
full-size weight gradient that is added up step by step. Here the forward pass keeps what backward needs in time-major
buffers, the backward loop computes only what the previous step depends on, and every weight gradient is ONE product
over all steps at the end.

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

from regard.fast.first_order import first_order_only
from regard.fast.precision import working_dtype
from regard.fast.recurrent.cell_buffers import GruSteps, LstmSteps, Steps


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
    """States, contexts and weights of every step; a GRU where `cell` is None, else an LSTM.

    Under autocast everything has its dtype except the weights, which are float32.
    """
    dtype = working_dtype(gates)
    gates, hidden, keys, values, W_s, v, W_c, U, b_u = (
        x.to(dtype).contiguous() for x in (gates, hidden, keys, values, W_s, v, W_c, U, b_u)
    )
    cell = None if cell is None else cell.to(dtype)
    with torch.autocast(gates.device.type, enabled=False):
        states, contexts, weights = _Recurrence.apply(  # type: ignore[no-untyped-call]
            gates, hidden, cell, keys, values, mask, W_s, v, W_c, U, b_u, torch.is_grad_enabled()
        )
    return states, contexts, weights


class _Recurrence(torch.autograd.Function):
    """tanh x = 2 (σ(2x) - ½): keys, W_s and v are doubled once instead of every energy; E stands for tanh / 2.

    Half precision is used for the products with weights and for what is kept for backward; the attention between them
    is faster, and more accurate, in float32 on a CPU.
    """

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
        keeps: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        target, batch, _ = gates.shape
        source, width = keys.shape[1:]
        wide = torch.promote_types(keys.dtype, torch.float32)
        steps: Steps = GruSteps(target, hidden) if cell is None else LstmSteps(target, hidden, cell)
        both = torch.cat([2 * W_s, U])
        bias = torch.cat([b_u.new_zeros(width), b_u])
        keys, v, values = 2 * keys.to(wide), 2 * v.to(wide), values.to(wide)
        # Without gradients all steps write to the same place.
        energy = gates.new_empty(target if keeps else 1, batch, source, width).expand(target, -1, -1, -1)
        weights = keys.new_empty(target, batch, source)
        contexts = gates.new_empty(target, batch, values.size(-1))
        exact, scratch = gates.dtype == wide, torch.empty_like(keys)
        context_t, column, hidden_out = W_c.t(), v[:, None], ~mask
        blank = hidden_out.all(dim=-1, keepdim=True)
        padded, anything = bool(hidden_out.any()), not bool(blank.any())
        state = hidden
        for t, (given, kept, weight, context) in enumerate(zip(gates, energy, weights, contexts, strict=True)):
            product = linear(state, both, bias)
            near = kept if exact else scratch
            torch.add(keys, product[:, None, :width].to(wide), out=near).sigmoid_().sub_(0.5)
            scores = (near.view(-1, width) @ column).view(batch, source)
            if padded:
                scores.masked_fill_(hidden_out, torch.finfo(wide).min)
            torch.softmax(scores, dim=-1, out=weight)
            if not anything:
                weight.masked_fill_(blank, 0.0)
            if exact:
                torch.bmm(weight[:, None], values, out=context[:, None])
            else:
                kept.copy_(near)
                context.copy_(torch.bmm(weight[:, None], values)[:, 0])
            state = steps.forward(t, torch.addmm(given, context, context_t), product[:, width:])
        ctx.save_for_backward(values, v, both, W_c, energy, weights, contexts, steps.states, *steps.kept)
        ctx.gru = cell is None
        ctx.set_materialize_grads(False)
        return steps.states[1:], contexts, weights

    @staticmethod
    @first_order_only
    def backward(ctx: Any, *outside: Tensor | None) -> tuple[Tensor | None, ...]:
        values, v, both, W_c, energy, weights, contexts, states, *kept = ctx.saved_tensors
        target, batch, source, width = energy.shape
        units = states.size(-1)
        d_states = torch.zeros_like(states[1:]) if outside[0] is None else outside[0]
        d_contexts = torch.zeros_like(contexts) if outside[1] is None else outside[1]
        d_weights = outside[2]
        steps: Steps = (GruSteps if ctx.gru else LstmSteps).restore(states, kept)
        slope, quarter = values.new_empty(batch, source, width), values.new_full((), 0.25)
        d_keys, d_v = torch.zeros_like(slope), torch.zeros_like(v)
        d_product = energy.new_empty(target, batch, both.size(0))
        # An LSTM adds both parts of its gates: they have one gradient. A GRU's reset gate stands between them.
        d_input = energy.new_empty(target, batch, both.size(0) - width) if ctx.gru else d_product[..., width:]
        d_context = torch.empty_like(contexts)
        d_state = states.new_zeros(batch, units)
        values_t = values.transpose(1, 2)
        d_query, d_gates = d_product.split([width, both.size(0) - width], dim=-1)
        each = (weights, energy, d_states, d_contexts, d_context, d_input, d_gates, d_query, d_product)
        slices = list(zip(*(one.unbind(0) for one in each), strict=True))
        for t in reversed(range(target)):
            weight, near, d_output, d_mixed, d_c, d_x, d_u, d_q, d_all = slices[t]
            past = steps.backward(t, d_state.add_(d_output), d_x, d_u)
            torch.addmm(d_mixed, d_x, W_c, out=d_c)
            # A row times a matrix: the same product as a matrix times a column is sixteen times slower on the CPU.
            d_weight = torch.bmm(d_c[:, None].to(values.dtype), values_t)[:, 0]
            if d_weights is not None:
                d_weight += d_weights[t]
            d_score = d_weight.sub_((weight * d_weight).sum(dim=-1, keepdim=True)).mul_(weight)
            near = near.to(values.dtype)
            torch.addcmul(quarter, near, near, value=-1, out=slope)  # σ(1 - σ) of what E was made from
            torch.mul(torch.bmm(d_score[:, None], slope)[:, 0], v, out=d_q)
            d_keys.addcmul_(slope, d_score[:, :, None])
            d_v.addmv_(near.view(-1, width).t(), d_score.view(-1))
            if t or ctx.needs_input_grad[1]:
                d_state = d_all @ both if past is None else past.addmm_(d_all, both)
        flat = d_product.flatten(0, 1)
        d_both = flat.t() @ states[:-1].flatten(0, 1)
        d_values = torch.bmm(weights.permute(1, 2, 0).to(d_context.dtype), d_context.transpose(0, 1))
        d_W_c = d_input.flatten(0, 1).t() @ contexts.flatten(0, 1)
        d_bias = flat[:, width:].sum(dim=0) if ctx.needs_input_grad[10] else None
        kind = energy.dtype
        return (
            d_input, d_state, steps.first_cell_gradient, d_keys.mul_(2 * v).to(kind), d_values, None,
            2 * d_both[:width], d_v.mul_(2).to(kind), d_W_c, d_both[width:], d_bias, None,
        )  # fmt: skip
