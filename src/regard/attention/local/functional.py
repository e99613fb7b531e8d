"""Luong's local windows in differentiable torch."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def monotonic_center(
    lengths: Int[Tensor, " batch"], target: int, position: int, dtype: torch.dtype
) -> Float[Tensor, "batch {target}"]:
    """Local-m: `p_t = t`, kept at the last real position once t has passed it."""
    steps = torch.arange(position, position + target, device=lengths.device)
    return torch.minimum(steps, (lengths[:, None] - 1).clamp(min=0)).to(dtype)


def predicted_center(
    query_projected: Float[Tensor, "batch target width"],
    v_p: Float[Tensor, " width"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch target"]:
    """Local-p: `p_t = S · sigmoid(v_p · tanh(W_p s_t))`, the projection W_p s_t already done."""
    share = torch.sigmoid(torch.tanh(query_projected) @ v_p)
    # In half precision, neighbouring positions of a long sentence round to the same number.
    return share.to(torch.promote_types(share.dtype, torch.float32)) * lengths[:, None]


def window_mask(
    center: Float[Tensor, "batch target"], real: Bool[Tensor, "batch source"], reach: int
) -> Bool[Tensor, "batch 1 target source"]:
    """Real positions within `[p_t - D, p_t + D]`.

    ```
    real  ■ ■ ■ ■ □,  D = 1      p_t = 0    ■ ■ □ □ □
                                 p_t = 1.4  □ ■ ■ □ □
                                 p_t = 3    □ □ ■ ■ □
    ```
    """
    near = _distance(center, real.shape[1]).abs() <= reach
    return (near & real[:, None, :])[:, None]


def gaussian_fade(
    center: Float[Tensor, "batch target"], source: int, reach: int
) -> Float[Tensor, "batch 1 target {source}"]:
    """`exp(-(s - p_t)² / 2σ²)` with `σ = D / 2`; p_t gets its gradient only through this factor."""
    sigma = reach / 2
    return torch.exp(-(_distance(center, source) ** 2) / (2 * sigma**2))[:, None]


def _distance(center: Float[Tensor, "batch target"], source: int) -> Float[Tensor, "batch target {source}"]:
    return torch.arange(source, device=center.device, dtype=center.dtype) - center[..., None]
