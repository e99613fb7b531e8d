"""A hand-written backward pass gives gradients, not gradients of gradients: who asks for those is told so.

torch's own `once_differentiable` complains only where what comes in depends on something; after a loss that hands a one
to its backward pass, it would let gradients through as if they were constants, and a penalty on them would do nothing.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch


def once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For the `backward` of an autograd function: refuse `create_graph=True`."""

    @wraps(backward)
    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "create_graph=True asks for gradients that can be differentiated again, which regard's fast paths do "
                "not have: run with REGARD_PLAIN=1 in the environment"
            )
        return backward(ctx, *gradients)

    return checked
