"""Guards custom backward functions: first-order, unbatched gradients only; raises otherwise.

torch's own `once_differentiable` raises only if the incoming gradient requires grad. The backward pass of a loss starts
with a constant: the gradients would be constants, too, and a penalty on them would silently have no effect.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from regard.torch_private import is_batched


def first_order_only(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For the `backward` of an autograd function: raise on `create_graph=True` and on batched gradients."""

    @wraps(backward)
    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "create_graph=True needs gradients that can be differentiated again, which regard's accelerated "
                "implementations do not have: run with REGARD_PLAIN=1 in the environment"
            )
        if any(isinstance(one, Tensor) and _batched(one) for one in gradients):
            raise RuntimeError(
                "is_grads_batched=True, or vectorize=True, needs batched gradients, which regard's accelerated "
                "implementations do not have: run with REGARD_PLAIN=1 in the environment"
            )
        return backward(ctx, *gradients)

    return checked


def _batched(gradient: Tensor) -> bool:
    """Whether vmap hides a batch axis of the gradient; torch.compile cannot trace this check."""
    return not torch.compiler.is_compiling() and is_batched(gradient)
