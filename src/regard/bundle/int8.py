"""Weights as int8: a scale for each row of a matrix, vectors as they are. A quarter of the size of float32.

    w[i, j] ≈ scale[i] · q[i, j],   scale[i] = max_j |w[i, j]| / 127,   q in -127 … 127

Every matrix of a model has its outputs (or words, in an embedding) as rows, so each output has its own scale.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float32, Int8
from torch import Tensor

Shape = tuple[int, ...]
SCALE = ".scale"
"""The scales of the matrix `name` are stored as `name.scale`."""


def quantise(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors to store: q and the scales of each matrix, everything else in float32."""
    stored: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if tensor.dim() < 2:
            stored[name] = tensor.float()
            continue
        integers, stored[name + SCALE] = quantise_matrix(tensor.float().flatten(1))
        stored[name] = integers.reshape(tensor.shape)
    return stored


def quantise_matrix(
    matrix: Float32[Tensor, "rows columns"],
) -> tuple[Int8[Tensor, "rows columns"], Float32[Tensor, " rows"]]:
    """q and the scale of each row, off by at most half a scale."""
    largest = matrix.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest / 127, 1.0)
    return (matrix / scale).round().to(torch.int8), scale.squeeze(1)


def restore(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights in float32."""
    weights: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if name + SCALE in stored:
            scale = stored[name + SCALE]
            weights[name] = tensor.float() * scale.reshape(-1, *[1] * (tensor.dim() - 1))
        elif not name.endswith(SCALE):
            weights[name] = tensor
    return weights


def stored_shapes(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """The shapes in the file of a model whose weights have these shapes."""
    scales = {name + SCALE: shape[:1] for name, shape in shapes.items() if len(shape) > 1}
    return {**shapes, **scales}
