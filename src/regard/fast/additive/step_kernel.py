"""Additive attention for a few queries, as in decoding: scores, softmax and context in one Triton kernel.

With few queries for each sentence precomputed factors do not pay: keys and values are read once, and each program
computes one query from its scores to its context.
"""

# mypy: ignore-errors
# (Triton's language is not Python: no type checker can check it.)

from typing import no_type_check

import triton
import triton.language as tl

from regard.fast.additive.score_kernels import LOWEST, TWO_LOG2_E, bounded, exponential, reciprocal


@triton.jit
@no_type_check
def step_kernel(
    query, keys, v, values, mask, gaussian, scores, probabilities, weights, context, target, source, width, value,
    mask_batch, mask_target, mask_source, gaussian_batch, gaussian_target, gaussian_source,
    HAS_GAUSSIAN: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, VALUE: tl.constexpr,
    APPROXIMATE: tl.constexpr,
):  # fmt: skip
    """One (sentence, query): e_s = v · tanh(q + k_s), a = softmax(e), c = Σ a_s h_s; unseen positions are not read."""
    index = tl.program_id(0).to(tl.int64)
    batch = index // target
    mask += batch * mask_batch + (index % target) * mask_target
    gaussian += batch * gaussian_batch + (index % target) * gaussian_target
    scores += index * source
    largest = tl.full([], LOWEST, tl.float32)
    total = tl.full([], 0.0, tl.float32)
    for start in range(0, source, KEYS):
        place = start + tl.arange(0, KEYS)
        seen = tl.load(mask + place * mask_source, mask=place < source, other=0) != 0
        score = bounded(_scores(query, keys, v, index, batch * source + place, seen, width, KEYS, WIDTH, APPROXIMATE))
        tl.store(scores + place, score, mask=seen)
        new = tl.maximum(largest, tl.max(tl.where(seen, score, LOWEST), 0))
        total = total * tl.exp(largest - new) + tl.sum(exponential(score - new, seen), 0)
        largest = new
    scale = 1.0 / tl.where(total == 0.0, 1.0, total)
    tl.debug_barrier()  # other threads of this program read the scores back
    for left in range(0, value, VALUE):
        column = left + tl.arange(0, VALUE)
        mixed = tl.zeros([KEYS, VALUE], tl.float32)
        for start in range(0, source, KEYS):
            place = start + tl.arange(0, KEYS)
            seen = tl.load(mask + place * mask_source, mask=place < source, other=0) != 0
            weight = exponential(tl.load(scores + place, mask=seen, other=0.0) - largest, seen) * scale
            rounded = weight.to(probabilities.dtype.element_ty)
            tl.store(probabilities + index * source + place, rounded, mask=(place < source) & (left == 0))
            if HAS_GAUSSIAN:
                weight *= tl.load(gaussian + place * gaussian_source, mask=seen, other=0.0).to(tl.float32)
                rounded = weight.to(weights.dtype.element_ty)
                tl.store(weights + index * source + place, rounded, mask=(place < source) & (left == 0))
            wanted = seen[:, None] & (column < value)[None, :]
            h = tl.load(values + (batch * source + place)[:, None] * value + column[None, :], mask=wanted, other=0.0)
            mixed += weight[:, None] * h.to(tl.float32)
        row = tl.sum(mixed, 0).to(context.dtype.element_ty)
        tl.store(context + index * value + column, row, mask=column < value)


@triton.jit
@no_type_check
def _scores(
    query, keys, v, index, key, seen, width, KEYS: tl.constexpr, WIDTH: tl.constexpr, APPROXIMATE: tl.constexpr
):
    """v · tanh(q + k) for a block of keys."""
    summed = tl.zeros([KEYS, WIDTH], tl.float32)
    for left in range(0, width, WIDTH):
        column = left + tl.arange(0, WIDTH)
        inside = column < width
        q = tl.load(query + index * width + column, mask=inside, other=0.0).to(tl.float32)
        v_w = tl.load(v + column, mask=inside, other=0.0).to(tl.float32)
        wanted = seen[:, None] & inside[None, :]
        k = tl.load(keys + key[:, None] * width + column[None, :], mask=wanted, other=0.0).to(tl.float32)
        r = reciprocal(1.0 + tl.exp2((q[None, :] + k) * TWO_LOG2_E), APPROXIMATE)
        summed += v_w[None, :] * (1.0 - 2.0 * r)
    return tl.sum(summed, 1)
