"""Cross-entropy of rows of logits and its gradient, in place, in one Triton kernel."""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def cross_entropy_kernel(
    logits, wanted, objective, plain, vocabulary, columns, smoothing, scale,
    WITH_GRADIENT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One row: -log p(wanted), and the loss with smoothing and scale; the logits are overwritten with its gradient
    δ = p - (1 - ε) [wanted] - ε / V, scaled."""
    row = tl.program_id(0).to(tl.int64)
    logits += row * columns
    word = tl.load(wanted + row)
    largest = tl.full([BLOCK], -1e38, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    every = tl.zeros([BLOCK], tl.float32)
    for start in range(0, vocabulary, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < vocabulary
        x = tl.where(inside, tl.load(logits + column, mask=inside, other=0.0).to(tl.float32), -1e38)
        new = tl.maximum(largest, x)
        total = total * tl.exp(largest - new) + tl.where(inside, tl.exp(x - new), 0.0)
        every += tl.where(inside, x, 0.0)
        largest = new
    peak = tl.max(largest, 0)
    normaliser = peak + tl.log(tl.sum(total * tl.exp(largest - peak), 0))
    likelihood = normaliser - tl.load(logits + word).to(tl.float32)
    smooth = tl.where(smoothing > 0.0, normaliser - tl.sum(every, 0) / vocabulary, likelihood)
    tl.store(plain + row, likelihood)
    tl.store(objective + row, scale * ((1.0 - smoothing) * likelihood + smoothing * smooth))
    if WITH_GRADIENT:
        tl.debug_barrier()  # all threads must have read the wanted logit before it is overwritten
        for start in range(0, vocabulary, BLOCK):
            column = start + tl.arange(0, BLOCK)
            inside = column < vocabulary
            x = tl.load(logits + column, mask=inside, other=0.0).to(tl.float32)
            d = tl.exp(x - normaliser) - smoothing / vocabulary - tl.where(column == word, 1.0 - smoothing, 0.0)
            tl.store(logits + column, (d * scale).to(logits.dtype.element_ty), mask=inside)


@triton.jit
@no_type_check
def multiply_kernel(x, y, z, factor, x_count, y_count, z_count, BLOCK: tl.constexpr):
    """Multiply all three by one number on the device, without a device sync; it is usually 1, and then nothing is read.

    Few programs with strides: launching thousands that do nothing would take longer.
    """
    f = tl.load(factor).to(tl.float32)
    if f != 1.0:
        _multiply(x, x_count, f, BLOCK)
        _multiply(y, y_count, f, BLOCK)
        _multiply(z, z_count, f, BLOCK)


@triton.jit
@no_type_check
def _multiply(x, count, f, BLOCK: tl.constexpr):
    first, stride = tl.program_id(0).to(tl.int64) * BLOCK, tl.num_programs(0).to(tl.int64) * BLOCK
    for start in range(first, count, stride):
        place = start + tl.arange(0, BLOCK)
        values = tl.load(x + place, mask=place < count, other=0.0).to(tl.float32)
        tl.store(x + place, (values * f).to(x.dtype.element_ty), mask=place < count)


@triton.jit
@no_type_check
def pad_kernel(
    x, last, y, rows, columns: tl.constexpr, x_stride: tl.constexpr, y_stride: tl.constexpr,
    ONES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A row of y: the row of x in y's precision, one more number (from `last`, or 1), zeros; below x only zeros."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    end = tl.where(row < rows, columns, -1)
    values = tl.load(x + row * x_stride + column, mask=column < end, other=0.0).to(tl.float32)
    more = 1.0 if ONES else tl.load(last + tl.minimum(row, rows - 1)).to(tl.float32)
    values = tl.where(column == end, more, values)
    tl.store(y + row * y_stride + column, values.to(y.dtype.element_ty), mask=column < y_stride)


@triton.jit
@no_type_check
def cast_kernel(x, y, columns: tl.constexpr, x_stride: tl.constexpr, y_stride: tl.constexpr, BLOCK: tl.constexpr):
    """Copy a row of x to y in y's precision; torch's copy of such rows reaches half of the memory bandwidth."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + row * x_stride + column, mask=column < columns, other=0.0)
    tl.store(y + row * y_stride + column, values.to(y.dtype.element_ty), mask=column < columns)
