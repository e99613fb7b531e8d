"""In which precision a matrix product runs: autocast's where it is on."""

import torch
from torch import Tensor


def working_dtype(tensor: Tensor) -> torch.dtype:
    """What torch's own products would take this tensor to; autocast leaves float64 as it is."""
    device = tensor.device.type
    if tensor.dtype == torch.float64 or not torch.is_autocast_enabled(device):
        return tensor.dtype
    return torch.get_autocast_dtype(device)
