"""x W' + b, also where W was packed: laid out once as the CPU's matrix products want it.

On the CPUs measured (docs/log.md) a packed product of five rows takes a third of the time, one of 320 rows five sixths.
Packed weights are for decoding alone: they cannot be differentiated, and a weight that changes must be packed again.
"""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

SMALLEST = 2**16
"""Numbers in a weight below which the packed product's own overhead would eat what it saves."""


def product(
    x: Float[Tensor, "*rows width"], weight: Float[Tensor, "out width"], bias: Float[Tensor, " out"] | None = None
) -> Float[Tensor, "*rows out"]:
    if not weight.is_mkldnn:
        return functional.linear(x, weight, bias)
    result: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return result


def add_product(
    given: Float[Tensor, "rows out"], x: Float[Tensor, "rows width"], weight: Float[Tensor, "out width"]
) -> Float[Tensor, "rows out"]:
    """given + x W'."""
    return product(x, weight).add_(given) if weight.is_mkldnn else torch.addmm(given, x, weight.t())


def pack(weight: Float[Tensor, "out width"]) -> Float[Tensor, "out width"]:
    """The packed form of a weight for which `packable` is true."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), None)
    return packed


def packable(weight: Tensor) -> bool:
    """Whether this weight has a packed form that pays: float32 on a CPU whose torch knows how, and not small."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= SMALLEST and _works()


def unpacked_wanted(x: Tensor) -> bool:
    """Whether a product with x must use the weights as they are: gradients, another precision or device, a compiler."""
    return (
        torch.is_grad_enabled()
        or torch.compiler.is_compiling()
        or x.dtype != torch.float32
        or x.device.type != "cpu"
        or torch.is_autocast_enabled(x.device.type)
    )


@cache
def _works() -> bool:
    """Try it: the operation belongs to torch's own compiler and is promised to nobody."""
    x, weight, bias = torch.linspace(-1, 1, 6).view(2, 3), torch.linspace(-2, 3, 15).view(5, 3), torch.arange(5.0)
    try:
        with torch.no_grad():
            return torch.allclose(product(x, pack(weight), bias), functional.linear(x, weight, bias), atol=1e-5)
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return False
