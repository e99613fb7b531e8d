"""Cross-entropy of rows of logits and its gradient, in place, in one Triton kernel."""

# mypy: ignore-errors
# (Triton's language only looks like Python: no type checker reads it, here or when the tests run.)

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def cross_entropy_kernel(
    logits, wanted, likelihoods, smooth, vocabulary, columns, smoothing, scale,
    WITH_GRADIENT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One row: -log p(wanted), the mean of -log p, and, in the logits' place, δ = p - (1 - ε) [wanted] - ε / V,
    scaled."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * columns
    word = tl.load(wanted + row)
    largest = tl.full([BLOCK], -1e38, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    plain = tl.zeros([BLOCK], tl.float32)
    for start in range(0, vocabulary, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < vocabulary
        x = tl.load(logits + column, mask=inside, other=-1e38).to(tl.float32)
        new = tl.maximum(largest, x)
        total = total * tl.exp(largest - new) + tl.where(inside, tl.exp(x - new), 0.0)
        plain += tl.where(inside, x, 0.0)
        largest = new
    peak = tl.max(largest, 0)
    normaliser = peak + tl.log(tl.sum(total * tl.exp(largest - peak), 0))
    mean = tl.sum(plain, 0) / vocabulary
    tl.store(likelihoods + row, normaliser - tl.load(logits + word).to(tl.float32))
    tl.store(smooth + row, normaliser - mean)
    if WITH_GRADIENT:
        tl.debug_barrier()  # the wanted logit was read by all before it is written over
        for start in range(0, vocabulary, BLOCK):
            column = start + tl.arange(0, BLOCK)
            inside = column < vocabulary
            x = tl.load(logits + column, mask=inside, other=-1e38).to(tl.float32)
            d = tl.exp(x - normaliser) - smoothing / vocabulary - tl.where(column == word, 1.0 - smoothing, 0.0)
            tl.store(logits + column, (d * scale).to(logits.dtype.element_ty), mask=inside)


@triton.jit
@no_type_check
def multiply_kernel(x, factor, count, BLOCK: tl.constexpr):
    """x times one number on the device, which nobody has to wait for; nothing is read or written if it is 1."""
    f = tl.load(factor).to(tl.float32)
    if f != 1.0:
        place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        y = tl.load(x + place, mask=place < count, other=0.0).to(tl.float32)
        tl.store(x + place, (y * f).to(x.dtype.element_ty), mask=place < count)


@triton.jit
@no_type_check
def cast_kernel(x, y, columns: tl.constexpr, x_stride: tl.constexpr, y_stride: tl.constexpr, BLOCK: tl.constexpr):
    """A row of x in the precision and at the place of y; torch's copy of such rows runs at half the memory's speed."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + row * x_stride + column, mask=column < columns, other=0.0)
    tl.store(y + row * y_stride + column, values.to(y.dtype.element_ty), mask=column < columns)
