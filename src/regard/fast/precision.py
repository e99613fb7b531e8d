"""The precision in which matrix products run, whether Triton kernels support it, and products padded for a GPU."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.fast.additive.launch import DTYPES, kernels_run_on


def working_dtype(tensor: Tensor) -> torch.dtype:
    """The dtype that torch's own products would cast this tensor to; autocast leaves float64 as it is."""
    device = tensor.device.type
    if tensor.dtype == torch.float64 or not torch.is_autocast_enabled(device):
        return tensor.dtype
    return torch.get_autocast_dtype(device)


def fusible(tensor: Tensor) -> bool:
    """Whether Triton kernels run on this tensor's device and in the precision of its products."""
    return kernels_run_on(tensor.device.type) and working_dtype(tensor) in DTYPES


def linear(
    x: Float[Tensor, "*rows width"], weight: Float[Tensor, "out width"], bias: Float[Tensor, " out"]
) -> Float[Tensor, "*rows out"]:
    """W x + b; on a GPU half precision pads the width to a multiple of 8, else it is three times slower."""
    missing = -x.size(-1) % 8
    if missing and x.device.type == "cuda" and working_dtype(x).itemsize == 2:
        x, weight = F.pad(x, (0, missing)), F.pad(weight, (0, missing))
    return F.linear(x, weight, bias)
