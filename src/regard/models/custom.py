"""What somebody may have put into a model or may watch in it: fast paths ask here before they pass a call by."""

from torch import nn
from torch.nn.modules import module as torch_module

from regard.attention.local.module import LocalP
from regard.attention.plain import plain_wanted
from regard.attention.window import GlobalWindow


def watched(module: object) -> bool:
    """Whether it must be called itself, each time: somebody's hooks want to see it, or it has a `forward` put on it."""
    if not isinstance(module, nn.Module):
        return False
    for_all = (
        torch_module._global_forward_hooks or torch_module._global_forward_pre_hooks
        or torch_module._global_backward_hooks or torch_module._global_backward_pre_hooks
    )  # fmt: skip
    return bool(for_all) or any(
        one._forward_hooks
        or one._forward_pre_hooks
        or one._backward_hooks
        or one._backward_pre_hooks
        or "forward" in one.__dict__
        for one in module.modules()
    )


def steps_alike(decoder: nn.Module) -> bool:
    """Whether every step launches the same work, whichever its number: our attention, nothing random, nobody watching.

    A window that moves with the steps (local-m) is placed by their number.
    """
    attention = getattr(decoder, "attention", None)
    still = type(getattr(attention, "window", None)) in (GlobalWindow, LocalP, type(None))
    return ours(attention) and still and not (plain_wanted() or decoder.training or watched(decoder))


def ours(attention: object) -> bool:
    """Whether a mechanism and its window are of this package: for the same shapes they do the same work every time."""
    window = getattr(attention, "window", None)
    parts = (attention,) if window is None else (attention, window)
    return all(type(part).__module__.startswith("regard.") for part in parts)
