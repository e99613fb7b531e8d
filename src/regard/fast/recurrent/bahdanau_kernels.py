"""The kernels of one decoder step with additive attention at the input, forward and backward.

A step is three launches forward: a product P_t = [W_s; U] s_{t-1}, the scores, and a kernel that turns scores into
weights, mixes, and runs the cell. What it mixes is M = C h, the values already multiplied by the recurrence's context
columns, so that no product stands between attention and cell; the contexts themselves are one product after the loop.
Backward is four: the cell, δα = M δx, the softmax with the tanh, and the product with [W_s; U]'.

Widths are compile-time constants: of a run-time number Triton only knows whether 16 divides it, and where it does not,
as for the paper's 1000 units, it assumes unaligned rows and loads one number at a time instead of eight.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

from regard.fast.recurrent.cell_kernels import gru, gru_backward, lstm, lstm_backward, tanh

HIDDEN = tl.constexpr(-1e38)
"""The score of a masked position."""


@triton.jit
@no_type_check
def _row_and_tile(tiles):
    """A sentence and a tile of it: programs that run at the same time read neighbouring memory."""
    program = tl.program_id(0)
    return (program // tiles).to(tl.int64), program % tiles


@triton.jit
@no_type_check
def score_kernel(
    product, keys, v, real, scores, source, width: tl.constexpr, product_width: tl.constexpr,
    KEYS: tl.constexpr, WIDTH: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """scores[b, s] = v · tanh(q_b + k_bs) for a tile of keys; padding is not loaded and gets HIDDEN."""
    batch, tile = _row_and_tile(tl.cdiv(source, KEYS))
    place = tile * KEYS + tl.arange(0, KEYS)
    seen = tl.load(real + batch * source + place, mask=place < source, other=0) != 0
    total = tl.zeros([KEYS, WIDTH], tl.float32)
    stop = tl.where(tl.max(seen.to(tl.int32), 0) != 0, width, 0)
    for left in range(0, stop, WIDTH):
        column = left + tl.arange(0, WIDTH)
        inside = column < width
        q = tl.load(product + batch * product_width + column, mask=inside, other=0.0).to(tl.float32)
        v_w = tl.load(v + column, mask=inside, other=0.0).to(tl.float32)
        wanted = seen[:, None] & inside[None, :]
        k = tl.load(keys + (batch * source + place)[:, None] * width + column[None, :], mask=wanted, other=0.0)
        total += v_w[None, :] * tanh(q[None, :] + k.to(tl.float32), APPROXIMATE)
    tl.store(scores + batch * source + place, tl.where(seen, tl.sum(total, 1), HIDDEN), mask=place < source)


@triton.jit
@no_type_check
def mix_kernel(
    scores, mixed, gates, product, bias, states, kept, cells, weights,
    source, units: tl.constexpr, width: tl.constexpr, product_width: tl.constexpr, stride_batch,
    LSTM: tl.constexpr, BLOCK: tl.constexpr, KEYS: tl.constexpr, UNITS: tl.constexpr, UNROLLED: tl.constexpr,
):  # fmt: skip
    """weights = softmax(scores); the cell on gates + Σ_s weight_s M_s; this step's slices, `states` from s_{t-1} on.

    Loads of M depend on nothing and no store separates them: for a short source all are issued at once.
    """
    tiles: tl.constexpr = (units + UNITS - 1) // UNITS
    batch, tile = _row_and_tile(tiles)
    rows = tl.num_programs(0) // tiles
    count: tl.constexpr = 4 if LSTM else 3
    scores += batch * source
    whole = tl.arange(0, BLOCK)
    score = tl.load(scores + whole, mask=whole < source, other=HIDDEN)
    largest = tl.max(score, 0)
    raised = tl.where(score > HIDDEN, tl.exp(score - largest), 0.0)
    total = tl.sum(raised, 0)
    scale = tl.where(total > 0.0, 1.0, 0.0) / tl.where(total > 0.0, total, 1.0)
    column = tile * UNITS + tl.arange(0, UNITS)
    inside = column < units
    x0 = tl.zeros([KEYS, UNITS], tl.float32)
    x1 = tl.zeros([KEYS, UNITS], tl.float32)
    x2 = tl.zeros([KEYS, UNITS], tl.float32)
    x3 = tl.zeros([KEYS, UNITS], tl.float32)
    mixed += batch * source * count * units + column
    if UNROLLED:
        for start in tl.static_range(0, BLOCK, KEYS):
            x0, x1, x2, x3 = _mix(x0, x1, x2, x3, scores, mixed, start, inside, source, largest, scale,
                                  units, LSTM, KEYS)  # fmt: skip
    else:
        for start in range(0, source, KEYS):
            x0, x1, x2, x3 = _mix(x0, x1, x2, x3, scores, mixed, start, inside, source, largest, scale,
                                  units, LSTM, KEYS)  # fmt: skip
    gates += batch * count * units + column
    product += batch * product_width + width + column
    y0 = tl.sum(x0, 0) + tl.load(gates, mask=inside, other=0.0).to(tl.float32)
    y1 = tl.sum(x1, 0) + tl.load(gates + units, mask=inside, other=0.0).to(tl.float32)
    y2 = tl.sum(x2, 0) + tl.load(gates + 2 * units, mask=inside, other=0.0).to(tl.float32)
    u0 = _recurrent(product, bias, column, inside)
    u1 = _recurrent(product + units, bias, column + units, inside)
    u2 = _recurrent(product + 2 * units, bias, column + 2 * units, inside)
    kept += batch * count * units + column
    here = batch * units + column
    after = (rows + batch) * units + column
    if LSTM:
        y3 = tl.sum(x3, 0) + tl.load(gates + 3 * units, mask=inside, other=0.0).to(tl.float32)
        u3 = _recurrent(product + 3 * units, bias, column + 3 * units, inside)
        c = tl.load(cells + here, mask=inside, other=0.0)
        g0, g1, g2, g3, cell, new = lstm(y0 + u0, y1 + u1, y2 + u2, y3 + u3, c)
        tl.store(cells + after, cell, mask=inside)
        tl.store(kept + 3 * units, g3.to(kept.dtype.element_ty), mask=inside)
    else:
        s = tl.load(states + here, mask=inside, other=0.0).to(tl.float32)
        g0, g1, g2, new = gru(y0, y1, y2, u0, u1, u2, s)
    tl.store(kept, g0.to(kept.dtype.element_ty), mask=inside)
    tl.store(kept + units, g1.to(kept.dtype.element_ty), mask=inside)
    tl.store(kept + 2 * units, g2.to(kept.dtype.element_ty), mask=inside)
    tl.store(states + after, new.to(states.dtype.element_ty), mask=inside)
    tl.store(weights + batch * stride_batch + whole, raised * scale, mask=whole < tl.where(tile == 0, source, 0))


@triton.jit
@no_type_check
def _mix(
    x0, x1, x2, x3, scores, mixed, start, inside, source, largest, scale,
    units: tl.constexpr, LSTM: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """Each gate's Σ weight_s M_s, for one block of keys; values at masked keys are loaded and discarded."""
    count: tl.constexpr = 4 if LSTM else 3
    place = start + tl.arange(0, KEYS)
    wanted = (place < source)[:, None] & inside[None, :]
    m = mixed[None, :] + place[:, None] * (count * units)
    m0 = tl.load(m, mask=wanted, other=0.0)
    m1 = tl.load(m + units, mask=wanted, other=0.0)
    m2 = tl.load(m + 2 * units, mask=wanted, other=0.0)
    score = tl.load(scores + place, mask=place < source, other=HIDDEN)
    seen = (score > HIDDEN)[:, None]
    weight = (tl.exp(score - largest) * scale)[:, None]
    x0 += tl.where(seen, weight * m0.to(tl.float32), 0.0)
    x1 += tl.where(seen, weight * m1.to(tl.float32), 0.0)
    x2 += tl.where(seen, weight * m2.to(tl.float32), 0.0)
    if LSTM:
        m3 = tl.load(m + 3 * units, mask=wanted, other=0.0)
        x3 += tl.where(seen, weight * m3.to(tl.float32), 0.0)
    return x0, x1, x2, x3


@triton.jit
@no_type_check
def _recurrent(product, bias, column, inside):
    """U s + b of some gates."""
    u = tl.load(product, mask=inside, other=0.0).to(tl.float32)
    return u + tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)


@triton.jit
@no_type_check
def cell_backward_kernel(
    product, bias, states, kept, cells, carried, past, d_cells, d_states, d_given, d_product,
    units: tl.constexpr, width: tl.constexpr, product_width: tl.constexpr,
    LSTM: tl.constexpr, PARTS: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """Back through the cell of one step: δx into d_given, its recurrent counterpart into d_product.

    The gradient that reaches s_t is the sum of d_states (from outside), carried (the product of the step after, in
    parts) and past (the gradient that went past its gates); past and d_cells are updated in place.
    """
    batch, rows = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    count: tl.constexpr = 4 if LSTM else 3
    column = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    inside = column < units
    here = batch * units + column
    kept += batch * count * units + column
    product += batch * product_width + width + column
    d_given += batch * count * units + column
    d_product += batch * product_width + width + column
    kind = d_given.dtype.element_ty
    d = tl.load(d_states + here, mask=inside, other=0.0).to(tl.float32)
    for part in tl.static_range(PARTS):
        d += tl.load(carried + part * rows * units + here, mask=inside, other=0.0).to(tl.float32)
    g0 = tl.load(kept, mask=inside, other=0.0).to(tl.float32)
    g1 = tl.load(kept + units, mask=inside, other=0.0).to(tl.float32)
    g2 = tl.load(kept + 2 * units, mask=inside, other=0.0).to(tl.float32)
    if LSTM:
        g3 = tl.load(kept + 3 * units, mask=inside, other=0.0).to(tl.float32)
        c = tl.load(cells + here, mask=inside, other=0.0)
        new = tl.load(cells + rows * units + here, mask=inside, other=0.0)
        d_c = tl.load(d_cells + here, mask=inside, other=0.0)
        d0, d1, d2, d3, d_c = lstm_backward(d, d_c, g0, g1, g2, g3, c, new)
        tl.store(d_cells + here, d_c, mask=inside)
        tl.store(d_given + 3 * units, d3.to(kind), mask=inside)
        tl.store(d_product + 3 * units, d3.to(kind), mask=inside)
        u2 = d2
    else:
        d += tl.load(past + here, mask=inside, other=0.0)
        u_n = _recurrent(product + 2 * units, bias, column + 2 * units, inside)
        s = tl.load(states + here, mask=inside, other=0.0).to(tl.float32)
        d0, d1, d2, direct = gru_backward(d, g0, g1, g2, u_n, s)
        tl.store(past + here, direct, mask=inside)
        u2 = d2 * g0
    tl.store(d_given, d0.to(kind), mask=inside)
    tl.store(d_given + units, d1.to(kind), mask=inside)
    tl.store(d_given + 2 * units, d2.to(kind), mask=inside)
    tl.store(d_product, d0.to(kind), mask=inside)
    tl.store(d_product + units, d1.to(kind), mask=inside)
    tl.store(d_product + 2 * units, u2.to(kind), mask=inside)


@triton.jit
@no_type_check
def mix_backward_kernel(
    mixed, d_given, real, d_weights, source, gates: tl.constexpr, weights_batch,
    KEYS: tl.constexpr, GATES: tl.constexpr,
):  # fmt: skip
    """δα_s = M_s · δx for a tile of keys, added to what `d_weights` already holds from outside."""
    batch, tile = _row_and_tile(tl.cdiv(source, KEYS))
    place = tile * KEYS + tl.arange(0, KEYS)
    seen = tl.load(real + batch * source + place, mask=place < source, other=0) != 0
    mixed += (batch * source + place)[:, None] * gates
    d_given += batch * gates
    total = tl.zeros([KEYS, GATES], tl.float32)
    if gates <= 8 * GATES:
        for left in tl.static_range(0, gates, GATES):  # all loads are issued at once
            total += _mix_back(mixed, d_given, left, place, source, gates, GATES)
    else:
        for left in range(0, gates, GATES):
            total += _mix_back(mixed, d_given, left, place, source, gates, GATES)
    d_weights += batch * weights_batch + place
    outside = tl.load(d_weights, mask=seen, other=0.0)
    tl.store(d_weights, tl.where(seen, outside + tl.sum(total, 1), 0.0), mask=place < source)


@triton.jit
@no_type_check
def _mix_back(mixed, d_given, left, place, source, gates: tl.constexpr, GATES: tl.constexpr):
    column = left + tl.arange(0, GATES)
    wanted = (place < source)[:, None] & (column < gates)[None, :]
    m = tl.load(mixed + column[None, :], mask=wanted, other=0.0).to(tl.float32)
    return tl.load(d_given + column, mask=column < gates, other=0.0).to(tl.float32)[None, :] * m


@triton.jit
@no_type_check
def query_backward_kernel(
    product, keys, v, weights, d_weights, d_scores, d_product, source, width: tl.constexpr,
    product_width: tl.constexpr, stride_batch, padded_batch,
    BLOCK: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, APPROXIMATE: tl.constexpr, UNROLLED: tl.constexpr,
):  # fmt: skip
    """δe = α (δα - α·δα), and δq = v Σ_s δe_s (1 - tanh²(q + k_s)) for a tile of widths."""
    batch, tile = _row_and_tile((width + WIDTH - 1) // WIDTH)
    weights += batch * stride_batch
    d_weights += batch * stride_batch
    whole = tl.arange(0, BLOCK)
    everywhere = tl.load(weights + whole, mask=whole < source, other=0.0)
    outside = tl.load(d_weights + whole, mask=whole < source, other=0.0)
    inner = tl.sum(everywhere * outside, 0)
    column = tile * WIDTH + tl.arange(0, WIDTH)
    inside = column < width
    q = tl.load(product + batch * product_width + column, mask=inside, other=0.0).to(tl.float32)
    keys += batch * source * width + column
    total = tl.zeros([KEYS, WIDTH], tl.float32)
    if UNROLLED:
        for start in tl.static_range(0, BLOCK, KEYS):
            total += _query_back(q, keys, weights, d_weights, inner, start, inside, source, width, KEYS, APPROXIMATE)
    else:
        for start in range(0, source, KEYS):
            total += _query_back(q, keys, weights, d_weights, inner, start, inside, source, width, KEYS, APPROXIMATE)
    v_w = tl.load(v + column, mask=inside, other=0.0).to(tl.float32)
    d_q = tl.sum(total, 0) * v_w
    tl.store(d_product + batch * product_width + column, d_q.to(d_product.dtype.element_ty), mask=inside)
    first = tl.where(tile == 0, source, 0)
    tl.store(d_scores + batch * padded_batch + whole, everywhere * (outside - inner), mask=whole < first)


@triton.jit
@no_type_check
def _query_back(
    q, keys, weights, d_weights, inner, start, inside, source,
    width: tl.constexpr, KEYS: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """δe_s (1 - tanh²(q + k_s)) for one block of keys; a key of weight 0 is loaded and discarded."""
    place = start + tl.arange(0, KEYS)
    wanted = (place < source)[:, None] & inside[None, :]
    k = tl.load(keys[None, :] + place[:, None] * width, mask=wanted, other=0.0).to(tl.float32)
    weight = tl.load(weights + place, mask=place < source, other=0.0)
    d = weight * (tl.load(d_weights + place, mask=place < source, other=0.0) - inner)
    e = tanh(q[None, :] + k, APPROXIMATE)
    return tl.where((weight > 0.0)[:, None], d[:, None] * (1.0 - e * e), 0.0)
