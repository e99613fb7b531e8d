"""Whether the kernels run, and what `train` must know of precision; it knows attention through models alone."""

from importlib.util import find_spec

import torch
from torch import Tensor

from regard.attention.additive.launch import interpreted
from regard.attention.once import once as once
from regard.attention.plain import plain_wanted as plain_wanted
from regard.attention.precision import working_dtype as working_dtype

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_TRITON = find_spec("triton") is not None


def fusible(tensor: Tensor) -> bool:
    """Whether the kernels run here: a GPU with Triton, or Triton's interpreter where it was asked for (tests).

    REGARD_PLAIN=1 keeps them away.
    """
    on_device = tensor.device.type == "cuda" or (tensor.device.type == "cpu" and interpreted())
    return _TRITON and not plain_wanted() and on_device and working_dtype(tensor) in _DTYPES
