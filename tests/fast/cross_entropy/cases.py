"""Problems for the fused output layer and cross-entropy."""

from typing import Any

import pytest
import torch
from torch import Tensor

from fast.cases import Case, Problem
from regard.fast.cross_entropy import fused_loss
from regard.models.cross_entropy import linear_cross_entropy


def problem(
    rows: int, width: int, vocabulary: int, smoothing: float = 0.0, device: torch.device | None = None,
    dtype: torch.dtype = torch.float64,
) -> Problem:  # fmt: skip
    random = torch.Generator().manual_seed(0)
    shapes = {"features": (rows, width), "weight": (vocabulary, width), "bias": (vocabulary,)}
    leaves = {
        name: torch.randn(shape, generator=random, dtype=torch.float64).to(device, dtype).requires_grad_()
        for name, shape in shapes.items()
    }
    wanted = torch.randint(vocabulary, (rows,), generator=random).to(device)
    return Problem(lambda: of_any_size(*leaves.values(), wanted, smoothing, 0.25), leaves)


def of_any_size(*given: Any) -> tuple[Tensor, Tensor]:
    """The entry runs for these small problems and in every precision, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused_loss, "gains", lambda *_: True)
        return linear_cross_entropy(*given)


CASES = [
    Case(
        "fused_cross_entropy",
        f"{rows} rows of {width}, {vocabulary} words, smoothing {smoothing}{', kernels' if where == 'kernels' else ''}",
        lambda device, dtype, size=(rows, width, vocabulary, smoothing): problem(*size, device, dtype),
        where,
        dtypes,
    )
    for rows, width, vocabulary, smoothing in ((23, 13, 101, 0.1), (1, 8, 5, 0.0))
    for where, dtypes in (
        ("cpu", (torch.float64, torch.float32)),
        ("kernels", (torch.float32, torch.bfloat16)),
    )
]
