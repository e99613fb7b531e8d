"""Cache keys for captured graphs: equal as long as a module would still do the captured work."""

from weakref import ref

import torch
from torch import nn


def structure(module: nn.Module) -> tuple[object, ...]:
    """Equal as long as the submodules are the same objects in the same mode, and products have the same precision.

    Weak references compare unequal once a module is gone, even if another is allocated at its address.
    """
    parts = tuple((name, ref(part), part.training) for name, part in module.named_modules())
    device = next((x.device.type for x in module.parameters()), "cpu")
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    return parts, autocast, settings()


def settings() -> tuple[object, ...]:
    """The torch settings that a captured graph depends on: precision, determinism, inference mode."""
    return _precision(), torch.are_deterministic_algorithms_enabled(), torch.is_inference_mode_enabled()


def _precision() -> str:
    """float32 precision of products; torch refuses its old API where the new one was used to set it."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return str(torch.backends.cuda.matmul.fp32_precision)


def weights_of(module: nn.Module) -> tuple[object, ...]:
    """Equal as long as parameters and buffers stay at their addresses; their values may change."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return tuple((name, x.data_ptr(), x.dtype, x.shape, x.stride()) for name, x in named)
