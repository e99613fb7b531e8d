"""Launches the additive kernels: where they run, tile sizes, temporary memory, the order of the forward passes."""

import os
from dataclasses import dataclass
from importlib.util import find_spec

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
"""The dtypes that kernels support."""

STEP_QUERIES = 4
"""Up to this number of queries for each sentence one kernel does everything: the case of decoding."""

TEMPORARY = 64 * 2**20
"""Bytes of temporary tensors that a forward or backward pass may hold at a time; larger batches are split."""

_MOST_SENTENCES = 32768  # a CUDA grid has at most 65535 blocks on this axis
_TRITON = find_spec("triton") is not None


@dataclass(frozen=True)
class ScoreTiling:
    """Queries × keys of a program, the widths it unrolls, its warps, and the most registers of a thread.

    `factors` is the dtype of exp(2q) and exp(2k) for bfloat16 inputs; for other inputs it is float32.
    """

    queries: int = 32
    keys: int = 64
    step: int = 8
    warps: int = 1
    registers: int | None = None
    factors: torch.dtype = torch.float32

    def factors_of(self, inputs: torch.dtype) -> torch.dtype:
        return self.factors if inputs == torch.bfloat16 else torch.float32


@dataclass(frozen=True)
class GradientTiling:
    """A program holds rows × width in registers and streams blocks of other rows; a thread has `lane` adjacent widths.

    `paired` lets two elements share a reciprocal, except in float32: half the special functions, one more product each.
    """

    rows: int = 16
    width: int = 64
    lane: int = 2
    block: int = 16
    warps: int = 1
    registers: int | None = None
    paired: bool = False


@dataclass(frozen=True)
class Tilings:
    """The tile sizes of all kernels; benchmarks/additive_kernel.py measures them."""

    score: ScoreTiling = ScoreTiling()
    gradient: GradientTiling = GradientTiling()
    deterministic: GradientTiling = GradientTiling(rows=32, paired=True)


DEFAULT = Tilings()


@dataclass(frozen=True)
class Inputs:
    """The arguments of attention, with one batch axis.

    The mask and the Gaussian are `[batch, target, source]` with any strides; all else is contiguous.
    """

    query: Float[Tensor, "batch target width"]
    keys: Float[Tensor, "batch source width"]
    v: Float[Tensor, " width"]
    values: Float[Tensor, "batch source value"]
    mask: Bool[Tensor, "batch target source"]
    gaussian: Float[Tensor, "batch target source"] | None

    def piece(self, rows: slice) -> "Inputs":
        """Some sentences of the batch."""
        gaussian = None if self.gaussian is None else self.gaussian[rows]
        return Inputs(self.query[rows], self.keys[rows], self.v, self.values[rows], self.mask[rows], gaussian)


@dataclass(frozen=True)
class KeyFacts:
    """Facts about the inputs that both passes use: the positions that some query may see, and the wide spans."""

    real: Bool[Tensor, "batch source"]
    wide: Int[Tensor, "batch span"]

    def piece(self, rows: slice) -> "KeyFacts":
        return KeyFacts(self.real[rows], self.wide[rows])


def key_facts(inputs: Inputs) -> KeyFacts:
    real = inputs.mask.any(dim=1)
    return KeyFacts(real, wide_spans(inputs, real))


def forward(
    inputs: Inputs, tilings: Tilings | None = None, facts: KeyFacts | None = None
) -> tuple[
    Float[Tensor, "batch target value"], Float[Tensor, "batch target source"], Float[Tensor, "batch target source"]
]:
    """Context, weights, and the softmax before the Gaussian.

    Without a Gaussian the weights are the softmax, and the same tensor is returned twice.
    """
    tilings = tilings or DEFAULT
    batch, target, width = inputs.query.shape
    source = inputs.keys.shape[1]
    probabilities = inputs.query.new_empty(batch, target, source)
    weights = probabilities if inputs.gaussian is None else torch.empty_like(probabilities)
    if target <= STEP_QUERIES:
        return _step(inputs, probabilities, weights), weights, probabilities
    facts = facts or key_facts(inputs)
    each = 4 * target * source + tilings.score.factors_of(inputs.query.dtype).itemsize * (target + source) * width
    for rows in pieces(batch, each):
        _weigh(inputs.piece(rows), facts.piece(rows), probabilities[rows], weights[rows], tilings.score)
    # Padding must reach no product, not even NaN.
    return weights @ torch.where(facts.real[..., None], inputs.values, 0.0), weights, probabilities


def wide_spans(inputs: Inputs, real: Bool[Tensor, "batch source"]) -> Int[Tensor, "batch span"]:
    """1 for each (sentence, span of widths) where exp(2q) exp(2k) could overflow."""
    from regard.fast.additive import score_kernels as kernel

    batch, target, width = inputs.query.shape
    spans = upwards(width, kernel.SPAN.value)
    wide = torch.empty(batch, spans, dtype=torch.int32, device=real.device)
    kernel.span_kernel[(spans * batch,)](
        inputs.query, inputs.keys, as_bytes(real), wide, target, inputs.keys.shape[1], width,
        ROWS=32, enable_fp_fusion=True,
    )  # fmt: skip
    return wide


def _step(inputs: Inputs, probabilities: Tensor, weights: Tensor) -> Tensor:
    from regard.fast.additive import step_kernel as kernel_step

    batch, target, width = inputs.query.shape
    source, value = inputs.values.shape[1:]
    context = inputs.values.new_empty(batch, target, value)
    scores = torch.empty(batch, target, source, dtype=torch.float32, device=context.device)
    gaussian = probabilities if inputs.gaussian is None else inputs.gaussian
    kernel_step.step_kernel[(batch * target,)](
        inputs.query, inputs.keys, inputs.v, inputs.values, as_bytes(inputs.mask), gaussian, scores, probabilities,
        weights, context, target, source, width, value, *inputs.mask.stride(), *gaussian.stride(),
        HAS_GAUSSIAN=inputs.gaussian is not None, KEYS=16, WIDTH=64, VALUE=128, APPROXIMATE=assembly(), num_warps=4,
        enable_fp_fusion=True,
    )  # fmt: skip
    return context


def _weigh(inputs: Inputs, facts: KeyFacts, probabilities: Tensor, weights: Tensor, tiling: ScoreTiling) -> None:
    from regard.fast.additive import score_kernels as kernel

    batch, target, width = inputs.query.shape
    source, real, wide = inputs.keys.shape[1], facts.real, facts.wide
    key_tile = min(tiling.keys, max(32, power(source)))
    query_factors, key_factors = _factors(inputs, real, wide, tiling, key_tile)
    scores = torch.empty(batch, target, source, dtype=torch.float32, device=real.device)
    grid = (upwards(target, tiling.queries), upwards(source, key_tile), batch)
    mask, strides = as_bytes(inputs.mask), inputs.mask.stride()
    kernel.score_kernel[grid](
        query_factors, key_factors, inputs.v, wide, mask, scores, target, source, width,
        query_factors.shape[2], key_factors.shape[2], wide.shape[1], *strides,
        QUERIES=tiling.queries, KEYS=key_tile, STEP=tiling.step, PRECISE=inputs.query.dtype == torch.float32,
        APPROXIMATE=assembly(), num_warps=tiling.warps, maxnreg=tiling.registers, enable_fp_fusion=True,
    )  # fmt: skip
    block = min(power(source), 2048)
    gaussian = probabilities if inputs.gaussian is None else inputs.gaussian
    kernel.softmax_kernel[(batch * target,)](
        scores, mask, gaussian, probabilities, weights, target, source, *strides, *gaussian.stride(),
        HAS_GAUSSIAN=inputs.gaussian is not None, BLOCK=block, num_warps=row_warps(block), enable_fp_fusion=True,
    )  # fmt: skip


def _factors(inputs: Inputs, real: Tensor, wide: Tensor, tiling: ScoreTiling, key_tile: int) -> tuple[Tensor, Tensor]:
    """exp(2x) of queries and of keys as [batch, width, row], both axes padded to whole tiles."""
    from regard.fast.additive import score_kernels as kernel

    batch, target, width = inputs.query.shape
    source, spans, rows = inputs.keys.shape[1], wide.shape[1], 32
    padded = [
        upwards(target, max(tiling.queries, rows)) * max(tiling.queries, rows),
        upwards(source, key_tile) * key_tile,
    ]
    query_factors, key_factors = (
        torch.empty(
            batch, spans * kernel.SPAN.value, size, dtype=tiling.factors_of(inputs.query.dtype), device=real.device
        )
        for size in padded
    )
    kernel.factor_kernel[(spans, sum(padded) // rows, batch)](
        inputs.query, inputs.keys, as_bytes(real), wide, query_factors, key_factors, target, source, width, *padded,
        ROWS=rows, PRECISE=inputs.query.dtype == torch.float32, enable_fp_fusion=True,
    )  # fmt: skip
    return query_factors, key_factors


def pieces(batch: int, each: int) -> list[slice]:
    """Slices of the batch, as few as possible and of equal size, with `each` bytes a sentence within TEMPORARY."""
    count = max(1, min(batch, upwards(batch * each, TEMPORARY)), upwards(batch, _MOST_SENTENCES))
    size = upwards(batch, count)
    return [slice(start, min(start + size, batch)) for start in range(0, batch, size)]


def as_bytes(mask: Tensor) -> Tensor:
    """The mask for Triton, which has no pointer to bool."""
    return mask.view(torch.uint8)


def upwards(count: int, size: int) -> int:
    """`triton.cdiv`, which takes 7 µs of host time instead of 0.3 and needs Triton."""
    return -(-count // size)


def power(count: int) -> int:
    """`triton.next_power_of_2`, for the same reasons."""
    return 1 << max(count - 1, 0).bit_length()


def row_warps(block: int) -> int:
    """The number of warps for a row of `block` elements."""
    return min(max(block // 256, 1), 8)


def kernels_run_on(device: str) -> bool:
    """Whether Triton kernels run on this device type: a GPU, or the CPU with Triton's interpreter (tests)."""
    return _TRITON and (device == "cuda" or (device == "cpu" and interpreted()))


def interpreted() -> bool:
    """Whether Triton runs its kernels in Python, on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes")


def assembly() -> bool:
    """Whether the kernels may use NVIDIA's one-instruction reciprocal; Triton's interpreter runs no assembly."""
    return torch.version.cuda is not None and not interpreted()
