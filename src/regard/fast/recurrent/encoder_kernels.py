"""The kernels of one step of a GRU or LSTM layer in one or both directions, forward and backward.

Step i of the reverse direction is at position source - 1 - i. At padding the state is unchanged and the output is zero:
the same result as packing, without lengths on the host, so that a CUDA graph can replay it. The number of units is a
compile-time constant, see `bahdanau_kernels.py`.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

from regard.fast.recurrent.cell_kernels import gru, gru_backward, lstm, lstm_backward


@triton.jit
@no_type_check
def _place(step, batch, rows, source, directions, units: tl.constexpr, COUNT: tl.constexpr, UNITS: tl.constexpr):
    """Source position, columns, and the offsets of this program's gates, given gates and outputs."""
    direction = tl.program_id(1)
    position = tl.where(direction == 0, step, source - 1 - step)
    column = tl.program_id(2) * UNITS + tl.arange(0, UNITS)
    row = direction * rows + batch
    given = ((batch * source + position) * directions + direction) * COUNT * units + column
    output = ((batch * source + position) * directions + direction) * units + column
    return position, column, row, given, output


@triton.jit
@no_type_check
def read_kernel(
    given, product, bias, real, states, cells, kept, outputs, step, source, units: tl.constexpr,
    LSTM: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """states[1] from states[0], both [direction, batch, unit]; `given` and `outputs` begin with [batch, source]."""
    count: tl.constexpr = 4 if LSTM else 3
    batch, rows, directions = tl.program_id(0).to(tl.int64), tl.num_programs(0), tl.num_programs(1)
    position, column, row, given_at, output_at = _place(step, batch, rows, source, directions, units, count, UNITS)
    inside = column < units
    present = tl.load(real + batch * source + position) != 0
    here, after = row * units + column, (directions * rows + row) * units + column
    gate = row * count * units + column
    bias += tl.program_id(1) * count * units + column
    given += given_at
    y0 = tl.load(given, mask=inside, other=0.0).to(tl.float32)
    y1 = tl.load(given + units, mask=inside, other=0.0).to(tl.float32)
    y2 = tl.load(given + 2 * units, mask=inside, other=0.0).to(tl.float32)
    u0 = _sum(product + gate, bias, inside)
    u1 = _sum(product + gate + units, bias + units, inside)
    u2 = _sum(product + gate + 2 * units, bias + 2 * units, inside)
    s = tl.load(states + here, mask=inside, other=0.0)
    kind = kept.dtype.element_ty
    if LSTM:
        y3 = tl.load(given + 3 * units, mask=inside, other=0.0).to(tl.float32)
        u3 = _sum(product + gate + 3 * units, bias + 3 * units, inside)
        c = tl.load(cells + here, mask=inside, other=0.0)
        g0, g1, g2, g3, cell, new = lstm(y0 + u0, y1 + u1, y2 + u2, y3 + u3, c)
        tl.store(cells + after, tl.where(present, cell, c), mask=inside)
        tl.store(kept + gate + 3 * units, g3.to(kind), mask=inside)
    else:
        g0, g1, g2, new = gru(y0, y1, y2, u0, u1, u2, s.to(tl.float32))
    tl.store(kept + gate, g0.to(kind), mask=inside)
    tl.store(kept + gate + units, g1.to(kind), mask=inside)
    tl.store(kept + gate + 2 * units, g2.to(kind), mask=inside)
    new = new.to(states.dtype.element_ty)
    tl.store(states + after, tl.where(present, new, s), mask=inside)
    tl.store(outputs + output_at, tl.where(present, new, 0.0), mask=inside)


@triton.jit
@no_type_check
def _sum(product, bias, inside):
    u = tl.load(product, mask=inside, other=0.0).to(tl.float32)
    return u + tl.load(bias, mask=inside, other=0.0).to(tl.float32)


@triton.jit
@no_type_check
def read_backward_kernel(
    product, bias, real, states, cells, kept, carried, past, d_cells, d_outputs, d_given, d_product,
    step, source, units: tl.constexpr,
    LSTM: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """Back through one step: `past` and `d_cells` are updated in place; `d_product` is [batch, direction, gate, unit].

    `carried` holds the product of each gate from the step after.
    """
    count: tl.constexpr = 4 if LSTM else 3
    batch, rows, directions = tl.program_id(0).to(tl.int64), tl.num_programs(0), tl.num_programs(1)
    position, column, row, given_at, output_at = _place(step, batch, rows, source, directions, units, count, UNITS)
    inside = column < units
    present = tl.load(real + batch * source + position) != 0
    here, after = row * units + column, (directions * rows + row) * units + column
    gate = row * count * units + column
    carried += (tl.program_id(1) * count * rows + batch) * units + column
    d_product += (batch * directions + tl.program_id(1)) * count * units + column
    d = tl.load(past + here, mask=inside, other=0.0)
    for part in tl.static_range(count):
        d += tl.load(carried + part * rows * units, mask=inside, other=0.0).to(tl.float32)
    d += tl.where(present, tl.load(d_outputs + output_at, mask=inside, other=0.0).to(tl.float32), 0.0)
    g0 = tl.load(kept + gate, mask=inside, other=0.0).to(tl.float32)
    g1 = tl.load(kept + gate + units, mask=inside, other=0.0).to(tl.float32)
    g2 = tl.load(kept + gate + 2 * units, mask=inside, other=0.0).to(tl.float32)
    kind = d_given.dtype.element_ty
    if LSTM:
        g3 = tl.load(kept + gate + 3 * units, mask=inside, other=0.0).to(tl.float32)
        c = tl.load(cells + here, mask=inside, other=0.0)
        new = tl.load(cells + after, mask=inside, other=0.0)
        old = tl.load(d_cells + here, mask=inside, other=0.0)
        d0, d1, d2, d3, d_c = lstm_backward(d, old, g0, g1, g2, g3, c, new)
        tl.store(d_cells + here, tl.where(present, d_c, old), mask=inside)
        tl.store(past + here, tl.where(present, 0.0, d), mask=inside)
        d3 = tl.where(present, d3, 0.0).to(kind)
        tl.store(d_given + given_at + 3 * units, d3, mask=inside)
        tl.store(d_product + 3 * units, d3, mask=inside)
        u2 = d2
    else:
        u_n = _sum(product + gate + 2 * units, bias + tl.program_id(1) * count * units + 2 * units + column, inside)
        s = tl.load(states + here, mask=inside, other=0.0).to(tl.float32)
        d0, d1, d2, direct = gru_backward(d, g0, g1, g2, u_n, s)
        tl.store(past + here, tl.where(present, direct, d), mask=inside)
        u2 = d2 * g0
    d0 = tl.where(present, d0, 0.0).to(kind)
    d1 = tl.where(present, d1, 0.0).to(kind)
    tl.store(d_given + given_at, d0, mask=inside)
    tl.store(d_given + given_at + units, d1, mask=inside)
    tl.store(d_given + given_at + 2 * units, tl.where(present, d2, 0.0).to(kind), mask=inside)
    tl.store(d_product, d0, mask=inside)
    tl.store(d_product + units, d1, mask=inside)
    tl.store(d_product + 2 * units, tl.where(present, u2, 0.0).to(kind), mask=inside)
