"""Masks (True = real) and the masked softmax that every attention mechanism uses."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def masked_softmax(
    scores: Float[Tensor, "*batch source"], mask: Bool[Tensor, "*#batch source"]
) -> Float[Tensor, "*batch source"]:
    """Softmax over the real positions of the last axis; a row without any gives zeros, never NaN.

    ```
    mask     ■ ■ □      scores   1  1  9      weights   .5  .5   0
             ■ □ □               2  9  9                1    0   0
             □ □ □               9  9  9                0    0   0
    ```

    Infinite and very large scores give finite weights and gradients, and a masked score may be anything, even NaN.
    A NaN at a real position gives NaN: hiding it would hide a bug.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"masked_softmax: mask is {mask.dtype}, but it must be torch.bool, True at real positions")
    lowest = torch.finfo(scores.dtype).min
    # Real scores are clamped at half the lowest float: a masked score is lower even if every real one is -inf.
    bounded = scores.clamp(min=lowest / 2, max=-lowest)
    weights = torch.softmax(torch.where(mask, bounded, lowest), dim=-1)
    return torch.where(mask, weights, 0.0)


def lengths_to_mask(lengths: Int[Tensor, " batch"], size: int | None = None) -> Bool[Tensor, "batch source"]:
    """The mask of right-padded sentences; `size` defaults to the longest.

    ```
    lengths 3 1, size 4      ■ ■ ■ □
                             ■ □ □ □
    ```

    It reads the longest length, which is a device sync on a GPU and breaks the graph of torch.compile; models call
    `padding_mask`, which reads nothing.
    """
    longest = int(lengths.max()) if lengths.numel() else 0
    if size is not None and longest > size:
        raise ValueError(
            f"lengths_to_mask: a sentence of length {longest} does not fit in size {size}; give a larger size"
        )
    return padding_mask(lengths, longest if size is None else size)


def padding_mask(lengths: Int[Tensor, " batch"], size: int) -> Bool[Tensor, "batch {size}"]:
    """True at the first `lengths[i]` of `size` positions; lengths are not checked."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def causal_mask(
    target: int, source: int, position: int = 0, device: torch.device | None = None
) -> Bool[Tensor, "{target} {source}"]:
    """Step `position + i` sees source positions up to and including its own.

    ```
    target 3, source 3, position 0      ■ □ □      target 1, source 3, position 2      ■ ■ ■
                                        ■ ■ □
                                        ■ ■ ■
    ```
    """
    steps = torch.arange(position, position + target, device=device)
    return torch.arange(source, device=device) <= steps[:, None]
