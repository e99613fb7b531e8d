"""Whether recorded work is still the work that a module would do: what a CUDA graph must be forgotten for."""

from weakref import ref

import torch
from torch import nn


def structure(module: nn.Module) -> tuple[object, ...]:
    """Equal as long as the modules inside are the same ones, in the same mode, and products have the same precision.

    A module that is gone equals no other, even one at its address.
    """
    parts = tuple((name, ref(part), part.training) for name, part in module.named_modules())
    device = next((x.device.type for x in module.parameters()), "cpu")
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    return parts, autocast, settings()


def settings() -> tuple[object, ...]:
    """What a recording keeps of torch as it was then: how products round, which kernels are taken, what tensors are."""
    return _precision(), torch.are_deterministic_algorithms_enabled(), torch.is_inference_mode_enabled()


def _precision() -> str:
    """How products round; torch refuses the old question where somebody used the new way to say it."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return str(torch.backends.cuda.matmul.fp32_precision)


def weights_of(module: nn.Module) -> tuple[object, ...]:
    """Equal as long as the parameters and buffers lie where they lay; their numbers may change there."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return tuple((name, x.data_ptr(), x.dtype, x.shape, x.stride()) for name, x in named)
