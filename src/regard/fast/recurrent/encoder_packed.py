"""A GRU or LSTM over packed sentences for training on a CPU: one autograd function for each layer and direction.

torch's own recurrence records every step for autograd and adds up a full-size weight gradient at each. Here buffers
over all steps keep what backward needs, and each weight's gradient is ONE product at the end. Sentences are packed as
torch packs them, the longest first: step t covers the first `counts[t]` of them, and padding is never computed.

```
counts   3 3 2 1      ■ ■ ■ ■      the forward direction stops at the end of a sentence,
                      ■ ■ ■ □      the reverse direction starts there
                      ■ ■ □ □
```
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from regard.fast.first_order import first_order_only
from regard.fast.recurrent.cell_equations import gru_backward, gru_forward, lstm_backward, lstm_forward


def run_packed(
    recurrence: nn.GRU | nn.LSTM, packed: PackedSequence
) -> tuple[
    PackedSequence,
    Float[Tensor, "depth batch units"] | tuple[Float[Tensor, "depth batch units"], Float[Tensor, "depth batch units"]],
]:
    """The result of `recurrence(packed)`."""
    words, counts, hidden, cells = packed.data, packed.batch_sizes.tolist(), [], []
    lengths = (packed.batch_sizes[None] > torch.arange(counts[0])[:, None]).sum(dim=1)
    ends = torch.cat([packed.batch_sizes.new_zeros(1), packed.batch_sizes.cumsum(0)])[lengths - 1]
    ends = ends + torch.arange(counts[0])
    for layer in range(recurrence.num_layers):
        if layer:
            words = functional.dropout(words, recurrence.dropout, recurrence.training)
        ways = []
        for way in ("", "_reverse") if recurrence.bidirectional else ("",):
            into, recurrent, bias, recurrent_bias = (
                getattr(recurrence, f"{name}_l{layer}{way}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            if isinstance(recurrence, nn.LSTM):
                given = functional.linear(words, into, bias + recurrent_bias)
                states, memory = run_lstm(given, recurrent, counts, backwards=bool(way))
                cells.append(memory[: counts[0]] if way else memory.index_select(0, ends))
            else:
                given = functional.linear(words, into, bias)
                states = run_gru(given, recurrent, recurrent_bias, counts, backwards=bool(way))
            hidden.append(states[: counts[0]] if way else states.index_select(0, ends))
            ways.append(states)
        words = torch.cat(ways, dim=-1)
    final = [torch.stack(kind) for kind in (hidden, cells) if kind]
    if packed.unsorted_indices is not None:
        final = [kind.index_select(1, packed.unsorted_indices) for kind in final]
    outputs = PackedSequence(words, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
    return outputs, (final[0], final[1]) if cells else final[0]


def run_gru(
    given: Float[Tensor, "words gates"],
    recurrent: Float[Tensor, "gates units"],
    bias: Float[Tensor, " gates"],
    counts: Sequence[int],
    *,
    backwards: bool,
) -> Float[Tensor, "words units"]:
    """The state after each word; `given` is its W x + b."""
    recurrent, bias = recurrent.to(given.dtype), bias.to(given.dtype)
    with torch.autocast(given.device.type, enabled=False):
        states: Tensor = _PackedGru.apply(given, recurrent, bias, counts, backwards)  # type: ignore[no-untyped-call]
    return states


def run_lstm(
    given: Float[Tensor, "words gates"],
    recurrent: Float[Tensor, "gates units"],
    counts: Sequence[int],
    *,
    backwards: bool,
) -> tuple[Float[Tensor, "words units"], Float[Tensor, "words units"]]:
    """State and cell after each word; `given` is its W x + b, with both biases."""
    with torch.autocast(given.device.type, enabled=False):
        states, cells = _PackedLstm.apply(given, recurrent.to(given.dtype), counts, backwards)  # type: ignore[no-untyped-call]
    return states, cells


def _steps(counts: Sequence[int], backwards: bool) -> Iterator[tuple[int, int, int]]:
    """Yields, in the order of the direction, a step, the next one, and how many sentences both cover."""
    order = range(len(counts))[::-1] if backwards else range(len(counts))
    for t, following in zip(order, [*order[1:], order[-1]], strict=True):
        yield t, following, min(counts[t], counts[following]) if following != t else 0


class _PackedGru(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, given: Tensor, recurrent: Tensor, bias: Tensor, counts: Sequence[int], backwards: bool
    ) -> Tensor:
        words, units = len(given), recurrent.size(1)
        before = given.new_zeros(words, units)
        after, new, memory = (given.new_empty(words, units) for _ in range(3))
        active = given.new_empty(words, 2 * units)
        kept = given, before, new, memory, active, after
        x, s, n, u, gate, state = (torch.split(rows, list(counts)) for rows in kept)
        for t, following, both in _steps(counts, backwards):
            product = functional.linear(s[t], recurrent, bias)
            u[t].copy_(product[:, 2 * units :])
            gru_forward(x[t], product, s[t], gate[t], n[t], state[t])
            s[following][:both] = state[t][:both]
        ctx.save_for_backward(recurrent, before, active, new, memory)
        ctx.counts, ctx.backwards = counts, backwards
        return after

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_after: Tensor) -> tuple[Tensor | None, ...]:
        recurrent, *kept = ctx.saved_tensors
        before = kept[0]
        d_given, d_product = (before.new_empty(len(before), len(recurrent)) for _ in range(2))
        rows = list(zip(*(torch.split(x, list(ctx.counts)) for x in (*kept, d_given, d_product)), strict=True))
        d, carried = torch.split(d_after, list(ctx.counts)), torch.empty_like(before[:0])
        for t, _, both in reversed(list(_steps(ctx.counts, ctx.backwards))):
            d_state = d[t].clone()
            d_state[:both] += carried[:both]
            carried = gru_backward(d_state, *rows[t]).addmm_(rows[t][-1], recurrent)
        return d_given, d_product.t() @ before, d_product.sum(dim=0), None, None


class _PackedLstm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, given: Tensor, recurrent: Tensor, counts: Sequence[int], backwards: bool
    ) -> tuple[Tensor, Tensor]:
        words, units = len(given), recurrent.size(1)
        before, cells_before = (given.new_zeros(words, units) for _ in range(2))
        after, cells, shown = (given.new_empty(words, units) for _ in range(3))
        active = given.new_empty(words, 4 * units)
        turned = recurrent.t()
        x, s, c, gate, cell, seen, state = (
            torch.split(kept, list(counts)) for kept in (given, before, cells_before, active, cells, shown, after)
        )
        for t, following, both in _steps(counts, backwards):
            lstm_forward(torch.addmm(x[t], s[t], turned), c[t], gate[t], cell[t], seen[t], state[t])
            s[following][:both] = state[t][:both]
            c[following][:both] = cell[t][:both]
        ctx.save_for_backward(recurrent, before, cells_before, active, shown)
        ctx.counts, ctx.backwards = counts, backwards
        return after, cells

    @staticmethod
    @first_order_only
    def backward(ctx: Any, d_after: Tensor, d_cells: Tensor) -> tuple[Tensor | None, ...]:
        recurrent, before, *kept = ctx.saved_tensors
        d_gates = before.new_empty(len(before), len(recurrent))
        rows = list(zip(*(torch.split(x, list(ctx.counts)) for x in (*kept, d_gates)), strict=True))
        d, d_c = (torch.split(x, list(ctx.counts)) for x in (d_after, d_cells))
        carried = carried_cell = torch.empty_like(before[:0])
        for t, _, both in reversed(list(_steps(ctx.counts, ctx.backwards))):
            d_state, d_cell = d[t].clone(), d_c[t].clone()
            d_state[:both] += carried[:both]
            d_cell[:both] += carried_cell[:both]
            carried_cell = lstm_backward(d_state, d_cell, *rows[t])
            carried = rows[t][-1] @ recurrent
        return d_gates, d_gates.t() @ before, None, None
