"""Additive attention fused, backward: Triton kernels that compute tanh again instead of having stored it.

With r = 1 / (1 + exp(2q) exp(2k)) as in `score_kernels.py`, tanh = 1 - 2r and its slope 1 - tanh² is 4 (r - r²). From
δe, the gradient of the scores,

    δq_tw = 4 v_w Σ_s δe_ts (r - r²)        δk_sw = 4 v_w Σ_t δe_ts (r - r²)        δv_w = -2 Σ_ts δe_ts r

The last should have r - 1/2 for r, but Σ_s δe_ts = 0: adding a constant to all scores does not change a softmax. (For
float32 inputs the half is subtracted nevertheless.) One visit of (t, s, w) serves all three: a program holds a tile of
keys × widths and their gradient in registers, lanes along the widths, and streams the queries past it. δk is summed in
the tile; Σ_s over the tile's keys stays inside a thread and is written with one atomic addition for each query and
tile, or with a plain store where one tile holds every key. Atomic additions happen in any order: to get the same bits
at every call, the kernel runs twice, the second time with queries held and keys streamed, without atomics.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

from regard.fast.additive.score_kernels import SPAN, TWO_LOG2_E, exp_twice, reciprocal


@triton.jit
@no_type_check
def softmax_backward_kernel(
    probabilities, d_mixing, d_weights, gaussian, mask, d_scores, d_gaussian, target, source, padded,
    mask_batch, mask_target, mask_source, gaussian_batch, gaussian_target, gaussian_source,
    HAS_MIXING: tl.constexpr, HAS_WEIGHTS: tl.constexpr, HAS_GAUSSIAN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """δe = a ∘ (δa - a·δa / Σa) for one row, where δa = g ∘ δw and δg = a ∘ δw.

    δw comes from the mixing of the values and from other uses of the weights. The stored probabilities a are rounded,
    so that Σa is not quite 1; dividing by it keeps Σ δe at zero.
    """
    index = tl.program_id(0).to(tl.int64)
    mask += (index // target) * mask_batch + (index % target) * mask_target
    gaussian += (index // target) * gaussian_batch + (index % target) * gaussian_target
    inner = tl.full([], 0.0, tl.float32)
    total = tl.full([], 0.0, tl.float32)
    for start in range(0, source, BLOCK):
        column = start + tl.arange(0, BLOCK)
        seen = tl.load(mask + column * mask_source, mask=column < source, other=0) != 0
        weight = tl.load(probabilities + index * source + column, mask=seen, other=0.0).to(tl.float32)
        gradient = _d_weights(d_mixing, d_weights, index * source + column, seen, HAS_MIXING, HAS_WEIGHTS, BLOCK)
        if HAS_GAUSSIAN:
            gradient *= tl.load(gaussian + column * gaussian_source, mask=seen, other=0.0).to(tl.float32)
        inner += tl.sum(weight * gradient, 0)
        total += tl.sum(weight, 0)
    inner = inner / tl.where(total == 0.0, 1.0, total)
    for start in range(0, padded, BLOCK):
        column = start + tl.arange(0, BLOCK)
        seen = tl.load(mask + column * mask_source, mask=column < source, other=0) != 0
        weight = tl.load(probabilities + index * source + column, mask=seen, other=0.0).to(tl.float32)
        gradient = _d_weights(d_mixing, d_weights, index * source + column, seen, HAS_MIXING, HAS_WEIGHTS, BLOCK)
        if HAS_GAUSSIAN:
            faded = (weight * gradient).to(d_gaussian.dtype.element_ty)
            tl.store(d_gaussian + index * source + column, faded, mask=column < source)
            gradient *= tl.load(gaussian + column * gaussian_source, mask=seen, other=0.0).to(tl.float32)
        tl.store(d_scores + index * padded + column, tl.where(seen, weight * (gradient - inner), 0.0), column < padded)


@triton.jit
@no_type_check
def _d_weights(
    d_mixing, d_weights, place, seen, HAS_MIXING: tl.constexpr, HAS_WEIGHTS: tl.constexpr, BLOCK: tl.constexpr
):
    gradient = tl.zeros([BLOCK], tl.float32)
    if HAS_MIXING:
        gradient += tl.load(d_mixing + place, mask=seen, other=0.0).to(tl.float32)
    if HAS_WEIGHTS:
        gradient += tl.load(d_weights + place, mask=seen, other=0.0).to(tl.float32)
    return gradient


@triton.jit
@no_type_check
def gradient_kernel(
    held, streamed, real, v, wide, d_scores, d_held, d_streamed, d_v, held_count, streamed_count, width, padded, spans,
    HELD_IS_KEYS: tl.constexpr, STREAMED: tl.constexpr, HAS_V: tl.constexpr, HALF: tl.constexpr, WIDTH: tl.constexpr,
    LANE: tl.constexpr, BLOCK: tl.constexpr, PAIRED: tl.constexpr, PRECISE: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """Gradients of a tile of held rows and of every streamed row; d_scores is [batch, streamed, held (padded)].

    STREAMED is how the streamed rows' gradient is written: "atomic", "store" (one tile holds all) or "none".
    The tile lies in two halves, because PAIRED lets one reciprocal serve an element of each.
    """
    tile, batch = tl.program_id(0), tl.program_id(2).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = column < width
    # A thread holds LANE adjacent widths: with 32 of them a warp spans the tile and every row is in one thread.
    column = tl.max_contiguous(column, LANE)
    first = tile * 2 * HALF + tl.arange(0, HALF)
    second = first + HALF
    summed = tl.load(wide + batch * spans + tl.program_id(1) * WIDTH // SPAN) != 0
    if WIDTH > SPAN:
        for span in tl.static_range(1, WIDTH // SPAN):
            further = tl.program_id(1) * (WIDTH // SPAN) + span
            summed = summed | (tl.load(wide + batch * spans + further, mask=further < spans, other=0) != 0)
    held += batch * held_count * width
    real += batch * (held_count if HELD_IS_KEYS else streamed_count)
    x1 = _held(held, real, first, column, inside, held_count, width, summed, HELD_IS_KEYS, PRECISE)
    x2 = _held(held, real, second, column, inside, held_count, width, summed, HELD_IS_KEYS, PRECISE)
    scale = 4.0 * tl.load(v + column, mask=inside, other=0.0).to(tl.float32)
    d1 = tl.zeros([HALF, WIDTH], tl.float32)
    d2 = tl.zeros([HALF, WIDTH], tl.float32)
    gathered = tl.zeros([WIDTH], tl.float32)
    d_scores += batch * streamed_count * padded
    streamed += batch * streamed_count * width + column
    d_streamed += batch * streamed_count * width + column
    for start in range(0, streamed_count, BLOCK):
        stop = tl.minimum(start + BLOCK, streamed_count)
        if STREAMED != "store":
            stop = tl.where(_any(d_scores, start, stop, tile * 2 * HALF, padded, 2 * HALF, BLOCK), stop, start)
        if summed:
            for row in range(start, stop):
                d1, d2, gathered = _visit(row, x1, x2, d1, d2, gathered, scale, streamed, d_streamed, d_scores, real,
                                          first, inside, width, padded, HELD_IS_KEYS, STREAMED, HAS_V, True, PAIRED,
                                          PRECISE, APPROXIMATE)  # fmt: skip
        else:
            for row in range(start, stop):
                d1, d2, gathered = _visit(row, x1, x2, d1, d2, gathered, scale, streamed, d_streamed, d_scores, real,
                                          first, inside, width, padded, HELD_IS_KEYS, STREAMED, HAS_V, False, PAIRED,
                                          PRECISE, APPROXIMATE)  # fmt: skip
    d_held += batch * held_count * width
    place = first[:, None] * width + column[None, :]
    fits = (first < held_count)[:, None] & inside[None, :]
    tl.store(d_held + place, (d1 * scale[None, :]).to(d_held.dtype.element_ty), mask=fits)
    place = second[:, None] * width + column[None, :]
    fits = (second < held_count)[:, None] & inside[None, :]
    tl.store(d_held + place, (d2 * scale[None, :]).to(d_held.dtype.element_ty), mask=fits)
    if HAS_V:
        tl.store(d_v + (batch * tl.num_programs(0) + tile) * width + column, -2.0 * gathered, mask=inside)


@triton.jit
@no_type_check
def _visit(
    row, x1, x2, d1, d2, gathered, scale, streamed, d_streamed, d_scores, real, first, inside, width, padded,
    HELD_IS_KEYS: tl.constexpr, STREAMED: tl.constexpr, HAS_V: tl.constexpr, SUMMED: tl.constexpr,
    PAIRED: tl.constexpr, PRECISE: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """One streamed row against the tile: both gradients of every (row, held row, width) from one reciprocal."""
    y = tl.load(streamed + row * width, mask=inside, other=0.0).to(tl.float32)
    if not HELD_IS_KEYS:
        y = tl.where(tl.load(real + row) != 0, y, 0.0)
    g1 = tl.load(d_scores + row * padded + first)[:, None]
    g2 = tl.load(d_scores + row * padded + first + x1.shape[0])[:, None]
    if not SUMMED:
        y = exp_twice(y, PRECISE)
    if PAIRED and not SUMMED:
        e1 = 1.0 + x1 * y[None, :]
        e2 = 1.0 + x2 * y[None, :]
        both = reciprocal(e1 * e2, APPROXIMATE)
        d1, slope1, height1 = _gather(both * e2, g1, d1, HAS_V, PRECISE)
        d2, slope2, height2 = _gather(both * e1, g2, d2, HAS_V, PRECISE)
    else:
        d1, slope1, height1 = _gather(_share(x1, y, SUMMED, APPROXIMATE), g1, d1, HAS_V, PRECISE)
        d2, slope2, height2 = _gather(_share(x2, y, SUMMED, APPROXIMATE), g2, d2, HAS_V, PRECISE)
    if HAS_V:
        gathered += height1 + height2
    if STREAMED != "none":
        d_y = (slope1 + slope2) * scale
        if STREAMED == "atomic":
            tl.atomic_add(d_streamed + row * width, d_y, mask=inside, sem="relaxed")
        else:
            tl.store(d_streamed + row * width, d_y.to(d_streamed.dtype.element_ty), mask=inside)
    return d1, d2, gathered


@triton.jit
@no_type_check
def _share(x, y, SUMMED: tl.constexpr, APPROXIMATE: tl.constexpr):
    """r of one half of the tile."""
    if SUMMED:
        return reciprocal(1.0 + tl.exp2((x + y[None, :]) * TWO_LOG2_E), APPROXIMATE)
    return reciprocal(1.0 + x * y[None, :], APPROXIMATE)


@triton.jit
@no_type_check
def _gather(r, g, d, HAS_V: tl.constexpr, PRECISE: tl.constexpr):
    """d + g (r - r²) for the held rows, and the sums over them of g (r - r²) and of g r or g (r - 1/2)."""
    slope = r - r * r
    height = 0.0
    if HAS_V:
        height = tl.sum(g * (r - 0.5 if PRECISE else r), 0)
    return d + g * slope, tl.sum(g * slope, 0), height


@triton.jit
@no_type_check
def _held(held, real, row, column, inside, count, width, summed, MASKED: tl.constexpr, PRECISE: tl.constexpr):
    """exp(2x) of the tile's rows, or x itself where the span is too wide for that; padding counts as 0."""
    present = row < count
    if MASKED:
        present = tl.load(real + row, mask=present, other=0) != 0
    x = tl.load(held + row[:, None] * width + column[None, :], mask=present[:, None] & inside[None, :], other=0.0)
    x = x.to(tl.float32)
    if not summed:
        x = exp_twice(x, PRECISE)
    return x


@triton.jit
@no_type_check
def _any(d_scores, start, stop, first, padded, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Whether any of these streamed rows has a gradient for the tile: padding and windows leave most tiles none."""
    row = start + tl.arange(0, BLOCK)
    column = first + tl.arange(0, ROWS)
    values = tl.load(d_scores + row[:, None] * padded + column[None, :], mask=(row < stop)[:, None], other=0.0)
    return tl.max(tl.max((values != 0.0).to(tl.int32), 1), 0) != 0
