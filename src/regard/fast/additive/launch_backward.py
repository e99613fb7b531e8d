"""Launches the additive kernels' backward pass: through the mixing and the softmax, then once or twice the tanh."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.fast.additive import launch
from regard.fast.additive.launch import (
    GradientTiling,
    Inputs,
    KeyFacts,
    Tilings,
    as_bytes,
    assembly,
    key_facts,
    pieces,
    power,
    row_warps,
    upwards,
    wide_spans,
)


def backward(
    inputs: Inputs,
    probabilities: Float[Tensor, "batch target source"],
    weights: Float[Tensor, "batch target source"],
    d_context: Float[Tensor, "batch target value"] | None,
    d_weights: Float[Tensor, "batch target source"] | None,
    deterministic: bool,
    tilings: Tilings | None = None,
    facts: KeyFacts | None = None,
) -> tuple[
    Float[Tensor, "batch target width"],
    Float[Tensor, "batch source width"],
    Float[Tensor, " width"],
    Float[Tensor, "batch source value"],
    Float[Tensor, "batch target source"] | None,
]:
    """Gradients of query, keys, v, values and the Gaussian."""
    tilings = tilings or launch.DEFAULT
    batch, target, source = probabilities.shape
    width = inputs.query.shape[2]
    facts = facts or key_facts(inputs)
    d_query, d_keys = torch.empty_like(inputs.query), torch.empty_like(inputs.keys)
    d_gaussian = None if inputs.gaussian is None else inputs.gaussian.new_empty(batch, target, source)
    # Filled first: cuBLAS warns if it makes the first CUDA call of a thread, and autograd runs backward in its own.
    d_v = inputs.v.new_zeros(width, dtype=torch.float32)
    tiling = tilings.deterministic if deterministic else tilings.gradient
    each = 6 * target * source + (4 * target * source if deterministic else 4 * target * width)
    for rows in pieces(batch, each):
        piece = inputs.piece(rows)
        d_scores = _through_softmax(
            piece,
            probabilities[rows],
            None if d_context is None else d_context[rows] @ piece.values.transpose(1, 2),
            None if d_weights is None else d_weights[rows].contiguous(),
            None if d_gaussian is None else d_gaussian[rows],
            upwards(source, tiling.rows) * tiling.rows,
        )
        d_v += _through_tanh(piece, facts.piece(rows), d_scores, d_query[rows], d_keys[rows], tiling, deterministic)
    d_values = torch.zeros_like(inputs.values) if d_context is None else weights.transpose(1, 2) @ d_context
    return d_query, d_keys, d_v.to(inputs.v.dtype), d_values, d_gaussian


def padded_source(source: int) -> int:
    """The source in whole tiles: what the last axis of `d_scores` must have."""
    rows = launch.DEFAULT.deterministic.rows
    return upwards(source, rows) * rows


def key_gradients(
    inputs: Inputs, real: Bool[Tensor, "batch source"], d_scores: Float[Tensor, "batch target padded"]
) -> tuple[Float[Tensor, "batch source width"], Float[Tensor, " width"]]:
    """Gradients of the keys and of v alone, from δe in float32, its source padded; the same bits every time."""
    d_keys = torch.empty_like(inputs.keys)
    run = _Launch(inputs, as_bytes(real), wide_spans(inputs, real), launch.DEFAULT.deterministic)
    d_v = run(True, d_scores, d_keys, d_keys, "none")
    return d_keys, d_v.to(inputs.v.dtype)


def _through_softmax(
    inputs: Inputs,
    probabilities: Tensor,
    d_mixing: Tensor | None,
    d_weights: Tensor | None,
    d_gaussian: Tensor | None,
    padded: int,
) -> Tensor:
    """The gradient of the scores, float32 `[batch, target, source]`, the source padded with zeros to whole tiles."""
    from regard.fast.additive import gradient_kernels as kernel_backward

    batch, target, source = probabilities.shape
    d_scores = torch.empty(batch, target, padded, dtype=torch.float32, device=probabilities.device)
    block = min(power(source), 2048)
    # A pointer must be given even for what is absent; the kernel's flags keep it from being read.
    absent = probabilities
    gaussian = absent if inputs.gaussian is None else inputs.gaussian
    kernel_backward.softmax_backward_kernel[(batch * target,)](
        probabilities, absent if d_mixing is None else d_mixing,
        absent if d_weights is None else d_weights, gaussian, as_bytes(inputs.mask), d_scores,
        absent if d_gaussian is None else d_gaussian, target, source, padded,
        *inputs.mask.stride(), *gaussian.stride(),
        HAS_MIXING=d_mixing is not None, HAS_WEIGHTS=d_weights is not None,
        HAS_GAUSSIAN=inputs.gaussian is not None, BLOCK=block, num_warps=row_warps(block),
        enable_fp_fusion=True,
    )  # fmt: skip
    return d_scores


def _through_tanh(
    inputs: Inputs,
    facts: KeyFacts,
    d_scores: Tensor,
    d_query: Tensor,
    d_keys: Tensor,
    tiling: GradientTiling,
    deterministic: bool,
) -> Tensor:
    """Write the gradients of queries and keys, return v's: one pass with atomics, or two without."""
    target, source = inputs.query.shape[1], inputs.keys.shape[1]
    run = _Launch(inputs, as_bytes(facts.real), facts.wide, tiling)
    if source <= tiling.rows:
        return run(True, d_scores, d_keys, d_query, "store")
    if not deterministic:
        gathered = torch.zeros_like(d_query, dtype=torch.float32)
        d_v = run(True, d_scores, d_keys, gathered, "atomic")
        d_query.copy_(gathered)
        return d_v
    d_v = run(True, d_scores, d_keys, d_query, "none")
    turned = d_scores.new_zeros(len(d_scores), source, upwards(target, tiling.rows) * tiling.rows)
    turned[..., :target] = d_scores[..., :source].transpose(1, 2)
    run(False, turned, d_query, d_keys, "none")
    return d_v


@dataclass(frozen=True)
class _Launch:
    """The gradient kernel with keys or queries held; with keys held, the call returns v's gradient."""

    inputs: Inputs
    real: Tensor
    wide: Tensor
    tiling: GradientTiling

    def __call__(self, hold_keys: bool, d_scores: Tensor, d_held: Tensor, d_streamed: Tensor, mode: str) -> Tensor:
        from regard.fast.additive import gradient_kernels as kernel_backward

        inputs, tiling = self.inputs, self.tiling
        held, streamed = (inputs.keys, inputs.query) if hold_keys else (inputs.query, inputs.keys)
        batch, count, width = held.shape
        tiles = upwards(count, tiling.rows)
        precise = held.dtype == torch.float32  # then no shared reciprocals: they cost a bit or two
        d_v = torch.empty(batch * tiles, width, dtype=torch.float32, device=held.device)
        kernel_backward.gradient_kernel[(tiles, upwards(width, tiling.width), batch)](
            held, streamed, self.real, inputs.v, self.wide, d_scores, d_held, d_streamed, d_v,
            count, streamed.shape[1], width, d_scores.shape[2], self.wide.shape[1],
            HELD_IS_KEYS=hold_keys, STREAMED=mode, HAS_V=hold_keys, HALF=tiling.rows // 2, WIDTH=tiling.width,
            LANE=tiling.lane, BLOCK=tiling.block, PAIRED=tiling.paired and not precise, PRECISE=precise,
            APPROXIMATE=assembly(), num_warps=tiling.warps, maxnreg=tiling.registers,
            enable_fp_fusion=True,
        )  # fmt: skip
        return d_v.sum(dim=0)
