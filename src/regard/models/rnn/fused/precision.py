"""In which precision the kernels work, and whether they run at all."""

from importlib.util import find_spec

import torch
from torch import Tensor

from regard.attention.additive.launch import interpreted
from regard.attention.once import once as once  # for `train`, which knows attention through models alone
from regard.attention.plain import plain_wanted as plain_wanted

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_TRITON = find_spec("triton") is not None


def fusible(tensor: Tensor) -> bool:
    """Whether the kernels run here: a GPU with Triton, or Triton's interpreter where it was asked for (tests).

    REGARD_PLAIN=1 keeps them away.
    """
    on_device = tensor.device.type == "cuda" or (tensor.device.type == "cpu" and interpreted())
    return _TRITON and not plain_wanted() and on_device and working_dtype(tensor) in _DTYPES


def working_dtype(tensor: Tensor) -> torch.dtype:
    """The precision of products: autocast's where it is on."""
    device = tensor.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else tensor.dtype
