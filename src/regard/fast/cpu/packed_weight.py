"""Packed weights on a CPU: stored once more in the layout that oneDNN's matrix products use, or as 8-bit integers.

On the CPUs measured (docs/log.md) a packed product of five rows takes a third of the time, one of 320 rows five sixths.
Packed weights are for decoding only: they have no gradients, and a weight that changes must be packed again.

oneDNN and torch cache compiled code for each number of rows, 0.6 MB for each weight, and a search has another number at
each step. So rows are rounded up: a server stays 290 MB smaller, for 2 % more arithmetic.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from regard.fast.cpu.int8_weight import Int8Weight
from regard.registry import Precision, Refusal
from regard.torch_private import pack_weight, packed_linear

Packed = Tensor | Int8Weight

SMALLEST = 2**18
"""Elements of a weight below which the overhead of the packed product outweighs its gain for a beam of five."""


def packable(weight: Tensor) -> bool:
    """Whether packing this weight pays: float32 on a CPU, not small, and supported by this torch."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= SMALLEST and _works()


def pack(weight: Tensor, precision: Precision) -> Packed:
    """A packed copy of a weight for `product`."""
    return pack_weight(weight) if precision == "float32" else Int8Weight(weight)


def product(x: Tensor, weight: Packed, bias: Tensor | None) -> Tensor:
    """x W' + b with a packed weight."""
    rows = x.reshape(-1, x.shape[-1])
    count = len(rows)
    if added := rounded_up(count) - count:
        rows = functional.pad(rows, (0, 0, 0, added))
    y = weight.product(rows, bias) if isinstance(weight, Int8Weight) else packed_linear(rows, weight, bias)
    return y[:count].view(*x.shape[:-1], y.shape[-1])


def rounded_up(rows: int) -> int:
    """The number of rows that products are computed with: up to 16 as given, at most 1/16 more from 64 on."""
    multiple = max(4 if rows > 16 else 1, 1 << max(rows.bit_length() - 5, 0))
    return -(-rows // multiple) * multiple


def unpacked_only(x: Tensor) -> Refusal:
    """Why a product with x cannot use packed weights, or None."""
    if torch.is_grad_enabled():
        return "gradients are computed"
    if x.dtype != torch.float32 or x.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
        return "packed weights are float32 on a CPU"
    return None


@cache
def _works() -> bool:
    """Whether the packed product, a private operation of torch's compiler, works here; found by running it."""
    x, weight, bias = torch.linspace(-1, 1, 6).view(2, 3), torch.linspace(-2, 3, 15).view(5, 3), torch.arange(5.0)
    try:
        with torch.no_grad():
            found = packed_linear(x, pack_weight(weight), bias)
            return torch.allclose(found, functional.linear(x, weight, bias), atol=1e-5)
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return False
