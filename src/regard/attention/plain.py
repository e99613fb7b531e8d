"""Whether everything goes through torch's own operations, step by step, instead of our kernels and gradients."""

import os

import torch
from torch.autograd import forward_ad


def plain_wanted() -> bool:
    """REGARD_PLAIN=1 asks for it, to see whether a fast path is to blame; so do transforms that must see every step."""
    return os.environ.get("REGARD_PLAIN", "0").lower() in ("1", "true", "on", "yes") or _transformed()


def _transformed() -> bool:
    """Whether `torch.func` or forward-mode differentiation is at work, of which hand-written gradients know nothing.

    They would give none there, or, without a word, zeros.
    """
    if torch.compiler.is_compiling():
        return False
    return bool(torch._C._are_functorch_transforms_active()) or forward_ad._current_level >= 0
