"""A GRU that reads packed sentences, as one differentiable operation for a layer and direction: how a CPU trains it.

torch's own records every step for autograd and adds up a full-size weight gradient at each. Here the steps keep what
backward needs in buffers for all of them, and each weight's gradient is ONE product at the end. Sentences are packed as
torch packs them, the longest first: step t concerns the first `counts[t]` of them, and padding is never computed.

```
counts   3 3 2 1      ■ ■ ■ ■      one direction reads from the left and stops at a sentence's end,
                      ■ ■ ■ □      the other starts there and reads from the right
                      ■ ■ □ □
```
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from regard.attention.once import once
from regard.models.rnn.cell_backward import tanh_


def read(recurrence: nn.GRU, packed: PackedSequence) -> tuple[PackedSequence, Float[Tensor, "depth batch units"]]:
    """What `recurrence(packed)` gives."""
    words, counts, final = packed.data, packed.batch_sizes.tolist(), []
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
            states = read_layer(
                functional.linear(words, into, bias), recurrent, recurrent_bias, counts, backwards=bool(way)
            )
            final.append(states[: counts[0]] if way else states.index_select(0, ends))
            ways.append(states)
        words = torch.cat(ways, dim=-1)
    hidden = torch.stack(final)
    if packed.unsorted_indices is not None:
        hidden = hidden.index_select(1, packed.unsorted_indices)
    return PackedSequence(words, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices), hidden


def read_layer(
    given: Float[Tensor, "words gates"],
    recurrent: Float[Tensor, "gates units"],
    bias: Float[Tensor, " gates"],
    counts: Sequence[int],
    *,
    backwards: bool,
) -> Float[Tensor, "words units"]:
    """The state after each word; `given` is W x + b of it."""
    recurrent, bias = recurrent.to(given.dtype), bias.to(given.dtype)
    with torch.autocast(given.device.type, enabled=False):
        states: Tensor = _Read.apply(given, recurrent, bias, counts, backwards)  # type: ignore[no-untyped-call]
    return states


def _steps(counts: Sequence[int], backwards: bool) -> list[tuple[slice, slice, slice]]:
    """In the order of reading: a step's words; those of them, and those of the next step, whose sentences go on."""
    starts = list(accumulate(counts, initial=0))
    order = range(len(counts))[::-1] if backwards else range(len(counts))
    following = [*order[1:], None]
    steps = []
    for t, after in zip(order, following, strict=True):
        both = 0 if after is None else min(counts[t], counts[after])
        there = 0 if after is None else starts[after]
        steps.append((slice(starts[t], starts[t + 1]), slice(starts[t], starts[t] + both), slice(there, there + both)))
    return steps


class _Read(torch.autograd.Function):
    """r, z = σ(x + u)   n = tanh(x_n + r ∘ u_n)   s' = n + z ∘ (s - n)   with u = U s + b"""

    @staticmethod
    def forward(
        ctx: Any, given: Tensor, recurrent: Tensor, bias: Tensor, counts: Sequence[int], backwards: bool
    ) -> Tensor:
        words, units = len(given), recurrent.size(1)
        before = given.new_zeros(words, units)
        after, new, memory = (given.new_empty(words, units) for _ in range(3))
        switches = given.new_empty(words, 2 * units)
        for here, staying, following in _steps(counts, backwards):
            x, switch, n, u = given[here], switches[here], new[here], memory[here]
            product = functional.linear(before[here], recurrent, bias)
            torch.add(x[:, : 2 * units], product[:, : 2 * units], out=switch).sigmoid_()
            u.copy_(product[:, 2 * units :])
            tanh_(torch.addcmul(x[:, 2 * units :], switch[:, :units], u, out=n))
            torch.lerp(n, before[here], switch[:, units:], out=after[here])
            before[following] = after[staying]
        ctx.save_for_backward(recurrent, before, switches, new, memory)
        ctx.counts, ctx.backwards = counts, backwards
        return after

    @staticmethod
    @once
    def backward(ctx: Any, d_after: Tensor) -> tuple[Tensor | None, ...]:
        recurrent, before, switches, new, memory = ctx.saved_tensors
        units = new.size(-1)
        d_product = new.new_empty(len(new), 3 * units)
        d_given = torch.empty_like(d_product)
        carried, one = torch.empty_like(new[:0]), new.new_ones(())
        for here, staying, _ in reversed(_steps(ctx.counts, ctx.backwards)):
            switch, n, d_x, d_u = switches[here], new[here], d_given[here], d_product[here]
            d = d_after[here].clone()
            d[: staying.stop - staying.start] += carried[: staying.stop - staying.start]
            past = d * switch[:, units:]
            d_new = torch.mul(d - past, torch.addcmul(one, n, n, value=-1), out=d_x[:, 2 * units :])
            d_switch = d_x[:, : 2 * units]
            torch.mul(d_new, memory[here], out=d_switch[:, :units])
            torch.mul(d, before[here] - n, out=d_switch[:, units:])
            d_switch.mul_(torch.addcmul(switch, switch, switch, value=-1))
            d_u[:, : 2 * units] = d_switch
            torch.mul(d_new, switch[:, :units], out=d_u[:, 2 * units :])
            carried = past.addmm_(d_u, recurrent)
        return d_given, d_product.t() @ before, d_product.sum(dim=0), None, None
