"""Additive attention fused, forward: Triton kernels that never hold a tensor of size target × source × width.

The scores need tanh for every (t, s, w), and a GPU computes special functions an eighth as fast as products. So tanh is
taken apart. With E = exp(2q) and F = exp(2k), which cost target + source exponentials instead of target × source,

    tanh(q + k) = 1 - 2r        r = 1 / (1 + E F)

and two adjacent widths share one reciprocal:

    v₁r₁ + v₂r₂ = (v₁d₂ + v₂d₁) / (d₁d₂)        d = 1 + E F

which leaves half a special function for each element, at float32 accuracy. The sum of v r has a large constant part,
Σ v / 2, which is taken off as the sum grows (for float32 inputs at every pair), so that no bits are lost to it:

    e = Σ v tanh(q + k) = -2 Σ v (r - 1/2)

E F must not overflow. Where a span of 64 widths has a |q| or |k| above 16 (`span_kernel` checks), that span takes the
exponential of the sum instead: `r = 1 / (1 + exp(2(q + k)))`, slower, for any input. Below 16 the product d₁d₂ may
still reach infinity, but then both parts of the sum are under 1e-10 and the zero it gives is right.

The grid has one program for each tile of queries × keys; every program is one warp whose threads hold their keys'
columns and all the tile's queries, so no sum crosses a thread.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

SPAN = tl.constexpr(64)
FACTORED_LIMIT = tl.constexpr(16.0)
TWO_LOG2_E = tl.constexpr(2.8853900817779268)
LOG2_E = tl.constexpr(1.4426950408889634)
LN_2 = tl.constexpr(0.693145751953125)  # its first 16 bits, so that a product with a whole number is exact ...
LN_2_REST = tl.constexpr(1.4286068203094172e-6)  # ... and what they leave out
LOWEST = tl.constexpr(-3.4028234663852886e38)


@triton.jit
@no_type_check
def reciprocal(x, APPROXIMATE: tl.constexpr):
    """1 / x in one instruction, accurate to one unit in the last place; the interpreter runs no assembly."""
    if APPROXIMATE:
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return 1.0 / x


@triton.jit
@no_type_check
def exp_twice(x, PRECISE: tl.constexpr):
    """exp(2x); for float32 inputs as 2ⁿ exp(2x - n ln 2), or the product 2x/ln 2 would lose the last bits of x."""
    if PRECISE:
        n = tl.floor(x * TWO_LOG2_E + 0.5)
        rest = (2.0 * x - n * LN_2) - n * LN_2_REST
        return tl.exp2(rest * LOG2_E) * tl.exp2(n)
    return tl.exp2(x * TWO_LOG2_E)


@triton.jit
@no_type_check
def exponential(x, seen):
    """exp(x) for x ≤ 0 to the last bit, where Triton's own loses some far from 0; zero where nothing is seen."""
    x = tl.where(seen, tl.where(x < -128.0, -128.0, x), 0.0)  # exp(-128) is zero in float32, and a NaN stays
    return tl.where(seen, exp_twice(0.5 * x, True), 0.0)


@triton.jit
@no_type_check
def span_kernel(query, keys, real, wide, target, source, width, ROWS: tl.constexpr):
    """wide[batch, span] = 1 where a span of widths holds a query or a real key too large to be factored.

    The grid has one axis: it covers a whole batch at once, and CUDA's other axes end at 65535.
    """
    index, spans = tl.program_id(0), (width + SPAN - 1) // SPAN
    span, batch = index % spans, (index // spans).to(tl.int64)
    column = span * SPAN + tl.arange(0, SPAN)
    peak = tl.zeros([ROWS, SPAN], tl.float32)
    for start in range(0, target, ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row < target)[:, None] & (column < width)[None, :]
        values = tl.load(query + (batch * target + row)[:, None] * width + column[None, :], mask=inside, other=0.0)
        peak = tl.maximum(peak, tl.abs(values.to(tl.float32)))
    for start in range(0, source, ROWS):
        row = start + tl.arange(0, ROWS)
        present = tl.load(real + batch * source + row, mask=row < source, other=0) != 0
        inside = present[:, None] & (column < width)[None, :]
        values = tl.load(keys + (batch * source + row)[:, None] * width + column[None, :], mask=inside, other=0.0)
        peak = tl.maximum(peak, tl.abs(values.to(tl.float32)))
    # Not (peak <= limit), so that NaN counts as too large whichever way the maximum treats it.
    exceeds = tl.where(peak <= FACTORED_LIMIT, 0, 1)
    tl.store(wide + index, tl.max(tl.max(exceeds, 1), 0))


@triton.jit
@no_type_check
def factor_kernel(
    query, keys, real, wide, query_factors, key_factors, target, source, width, query_padded, key_padded,
    ROWS: tl.constexpr, PRECISE: tl.constexpr,
):  # fmt: skip
    """factors[batch, width, row] = exp(2x), or x itself in a wide span; padding, of any value, counts as 0."""
    span, block, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    summed = tl.load(wide + batch * tl.num_programs(0) + span) != 0
    place = (batch * tl.num_programs(0) + span) * SPAN
    blocks = query_padded // ROWS
    if block < blocks:
        row = block * ROWS + tl.arange(0, ROWS)
        present = row < target
        _factor(query + batch * target * width, query_factors + place * query_padded, row, present, span, width,
                query_padded, summed, PRECISE)  # fmt: skip
    else:
        row = (block - blocks) * ROWS + tl.arange(0, ROWS)
        present = tl.load(real + batch * source + row, mask=row < source, other=0) != 0
        _factor(keys + batch * source * width, key_factors + place * key_padded, row, present, span, width,
                key_padded, summed, PRECISE)  # fmt: skip


@triton.jit
@no_type_check
def _factor(rows, factors, row, present, span, width, padded, summed, PRECISE: tl.constexpr):
    """Read a block of rows and write it transposed."""
    inner = tl.arange(0, SPAN)
    column = span * SPAN + inner
    x = tl.load(
        rows + row[:, None] * width + column[None, :], mask=present[:, None] & (column < width)[None, :], other=0.0
    ).to(tl.float32)
    if not summed:
        x = exp_twice(x, PRECISE)
    tl.store(factors + inner[:, None] * padded + row[None, :], tl.trans(x).to(factors.dtype.element_ty))


@triton.jit
@no_type_check
def score_kernel(
    query_factors, key_factors, v, wide, mask, scores, target, source, width, query_padded, key_padded, spans,
    mask_batch, mask_target, mask_source,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, STEP: tl.constexpr, PRECISE: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """scores[batch, target, source]; a tile that no query may see is skipped and gets zeros."""
    batch = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    column = tl.program_id(1) * KEYS + tl.arange(0, KEYS)
    inside = (row < target)[:, None] & (column < source)[None, :]
    seen = tl.load(
        mask + batch * mask_batch + row[:, None] * mask_target + column[None, :] * mask_source, mask=inside, other=0
    )
    work = tl.where(tl.max(tl.max(seen.to(tl.int32), 1), 0) != 0, spans, 0)
    query_factors += batch * spans * SPAN * query_padded + row
    # Adjacent keys go to adjacent lanes, as they do in the tile; wider loads would have to be transposed.
    key_factors += batch * spans * SPAN * key_padded + tl.max_contiguous(column, 1)
    total = tl.zeros([QUERIES, KEYS], tl.float32)
    for span in range(work):
        part = tl.zeros([QUERIES, KEYS], tl.float32) if PRECISE else total
        if tl.load(wide + batch * spans + span) == 0:
            for first in range(span * SPAN, (span + 1) * SPAN, STEP):
                part = _factored_step(part, query_factors, key_factors, v, first, width, query_padded, key_padded,
                                      STEP, PRECISE, APPROXIMATE)  # fmt: skip
        else:
            for w in range(span * SPAN, (span + 1) * SPAN):
                e = tl.load(query_factors + w * query_padded).to(tl.float32)
                f = tl.load(key_factors + w * key_padded).to(tl.float32)
                v_w = tl.load(v + w, mask=w < width, other=0.0).to(tl.float32)
                d = 1.0 + tl.exp2((e[:, None] + f[None, :]) * TWO_LOG2_E)
                part += v_w * (reciprocal(d, APPROXIMATE) - 0.5)
        total = total + part if PRECISE else part
    tl.store(scores + (batch * target + row)[:, None] * source + column[None, :], -2.0 * total, mask=inside)


@triton.jit
@no_type_check
def _factored_step(
    part, query_factors, key_factors, v, first, width, query_padded, key_padded,
    STEP: tl.constexpr, PRECISE: tl.constexpr, APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """part + Σ v (r - 1/2) over STEP widths, two widths for one reciprocal."""
    middle = 0.0
    for offset in tl.static_range(0, STEP, 2):
        w = first + offset
        e1 = tl.load(query_factors + w * query_padded).to(tl.float32)
        e2 = tl.load(query_factors + (w + 1) * query_padded).to(tl.float32)
        f1 = tl.load(key_factors + w * key_padded).to(tl.float32)
        f2 = tl.load(key_factors + (w + 1) * key_padded).to(tl.float32)
        v1 = tl.load(v + w, mask=w < width, other=0.0).to(tl.float32)
        v2 = tl.load(v + w + 1, mask=w + 1 < width, other=0.0).to(tl.float32)
        d1 = 1.0 + e1[:, None] * f1[None, :]
        d2 = 1.0 + e2[:, None] * f2[None, :]
        pair = (v1 * d2 + v2 * d1) * reciprocal(d1 * d2, APPROXIMATE)
        if PRECISE:
            part += pair - 0.5 * (v1 + v2)
        else:
            part += pair
            middle += v1 + v2
    return part - 0.5 * middle


@triton.jit
@no_type_check
def softmax_kernel(
    scores, mask, gaussian, probabilities, weights, target, source,
    mask_batch, mask_target, mask_source, gaussian_batch, gaussian_target, gaussian_source,
    HAS_GAUSSIAN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One row's masked softmax, as `masking.masked_softmax`: zeros where nothing is real, NaN only where real.

    With a Gaussian, `weights` are the probabilities it has faded; without, only `probabilities` are written.
    """
    index = tl.program_id(0).to(tl.int64)
    mask += (index // target) * mask_batch + (index % target) * mask_target
    gaussian += (index // target) * gaussian_batch + (index % target) * gaussian_target
    largest = tl.full([], LOWEST, tl.float32)
    total = tl.full([], 0.0, tl.float32)
    for start in range(0, source, BLOCK):
        column = start + tl.arange(0, BLOCK)
        seen = tl.load(mask + column * mask_source, mask=column < source, other=0) != 0
        score = bounded(tl.load(scores + index * source + column, mask=seen, other=0.0))
        new = tl.maximum(largest, tl.max(tl.where(seen, score, LOWEST), 0))
        total = total * tl.exp(largest - new) + tl.sum(exponential(score - new, seen), 0)
        largest = new
    scale = 1.0 / tl.where(total == 0.0, 1.0, total)
    for start in range(0, source, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < source
        seen = tl.load(mask + column * mask_source, mask=inside, other=0) != 0
        score = bounded(tl.load(scores + index * source + column, mask=seen, other=0.0))
        weight = exponential(score - largest, seen) * scale
        place = index * source + column
        tl.store(probabilities + place, weight.to(probabilities.dtype.element_ty), mask=inside)
        if HAS_GAUSSIAN:
            weight *= tl.load(gaussian + column * gaussian_source, mask=seen, other=0.0).to(tl.float32)
            tl.store(weights + place, weight.to(weights.dtype.element_ty), mask=inside)


@triton.jit
@no_type_check
def bounded(score):
    """Infinite scores become the largest finite ones, and a NaN stays."""
    score = tl.where(score < LOWEST / 2, LOWEST / 2, score)
    return tl.where(score > -LOWEST, -LOWEST, score)
