"""A hand-written backward pass gives gradients, once, of one number: who asks for more is told so.

torch's own `once_differentiable` complains only where what comes in depends on something; after a loss that hands a one
to its backward pass, it would let gradients through as if they were constants, and a penalty on them would do nothing.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor


def once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For the `backward` of an autograd function: refuse `create_graph=True`, and gradients of several at a time."""

    @wraps(backward)
    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "create_graph=True asks for gradients that can be differentiated again, which regard's fast paths do "
                "not have: run with REGARD_PLAIN=1 in the environment"
            )
        if any(isinstance(one, Tensor) and _batched(one) for one in gradients):
            raise RuntimeError(
                "is_grads_batched=True, or vectorize=True, asks for several gradients at a time, which regard's fast "
                "paths do not give: run with REGARD_PLAIN=1 in the environment"
            )
        return backward(ctx, *gradients)

    return checked


def _batched(gradient: Tensor) -> bool:
    """Whether it stands for several, whose axis vmap has hidden."""
    if torch.compiler.is_compiling():
        return False
    return torch._C._functorch.is_legacy_batchedtensor(gradient) or torch._C._functorch.is_batchedtensor(gradient)
