"""The private torch APIs that regard uses, each with the torch versions it was checked on. Nothing else may use one.

A test (`tests/house/test_house.py`) searches the other files for private names. When torch changes, read this file.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn.modules import module as torch_module


def transform_active() -> bool:
    """Whether a `torch.func` transform or forward-mode differentiation is active (2.6 to 2.13)."""
    return bool(torch._C._are_functorch_transforms_active()) or forward_ad._current_level >= 0


def is_batched(tensor: Tensor) -> bool:
    """Whether vmap hides a batch axis of this tensor (2.6 to 2.13)."""
    return torch._C._functorch.is_legacy_batchedtensor(tensor) or torch._C._functorch.is_batchedtensor(tensor)


def constant_when_compiled(function: Callable[[], bool]) -> Callable[[], bool]:
    """`torch.compiler.assume_constant_result` (2.6 to 2.13), which would import torch._dynamo and Triton for it."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


def recording_active() -> bool:
    """Whether a `__torch_dispatch__` mode or `torch.jit.trace` records the operations (2.6 to 2.13)."""
    return bool(torch._C._len_torch_dispatch_stack() or torch._C._get_tracing_state())


def has_hooks(module: nn.Module) -> bool:
    """Whether this module, not its children, has forward or backward hooks or a patched `forward` (2.6 to 2.13)."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or "forward" in module.__dict__
    )


def has_global_hooks() -> bool:
    """Whether hooks are registered for all modules (2.6 to 2.13)."""
    return bool(
        torch_module._global_forward_hooks
        or torch_module._global_forward_pre_hooks
        or torch_module._global_backward_hooks
        or torch_module._global_backward_pre_hooks
    )


def torch_version() -> tuple[int, int]:
    """Major and minor version."""
    major, minor, *_ = torch.__version__.split(".")
    return int(major), int(minor)


def copy_all(targets: Sequence[Tensor], sources: Sequence[Tensor]) -> None:
    """Copies each source into its target, all in one launch on a GPU (2.6 to 2.13)."""
    torch._foreach_copy_(list(targets), list(sources))


def give_graph_its_own_workspace() -> None:
    """Lets the next captured graph allocate its cuBLAS workspace from its own memory pool (2.12 to 2.13).

    torch keeps one workspace for each stream, allocated by the first graph that has a product. From 2.12 on it frees
    the workspace when any graph of the stream is destroyed, while the others would still write there.
    """
    with suppress(AttributeError):
        if torch_version() >= (2, 12):
            torch._C._cuda_clearCublasWorkspaces()


def end_broken_capture(device: int, pool: Any) -> None:
    """Ends a failed capture in the allocator (2.6 to 2.12; a no-op if torch has done it).

    Before 2.13 torch does not notify the allocator, and cached memory would never be returned.
    """
    with suppress(RuntimeError, AttributeError):
        torch._C._cuda_endAllocateToPool(device, pool)
        torch._C._cuda_releasePool(device, pool)


def copy_on_parameters(module: nn.Module, others: Mapping[int, Tensor]) -> dict[nn.Module, nn.Module]:
    """Shallow copies of a module and of those inside it, with the parameters `others` by the id of the originals.

    Returns the copy of each module (2.6 to 2.13).
    """
    copies: dict[nn.Module, nn.Module] = {}

    def copy(one: nn.Module) -> nn.Module:
        if one not in copies:
            made = copies[one] = one.__new__(type(one))
            parameters = {name: others.get(id(x), x) for name, x in one._parameters.items()}
            children = {name: child if child is None else copy(child) for name, child in one._modules.items()}
            made.__dict__ = {**one.__dict__, "_parameters": parameters, "_modules": children}
        return copies[one]

    copy(module)
    return copies


def without_torch_function() -> AbstractContextManager[None]:
    """Within, `__torch_function__` of tensor subclasses is not called (2.6 to 2.13)."""
    guard: AbstractContextManager[None] = torch._C.DisableTorchFunctionSubclass()
    return guard


def backward_pass_id() -> int:
    """The number of the backward pass that runs in this thread, -1 outside of one (2.6 to 2.13)."""
    return torch._C._current_graph_task_id()


def pack_weight(weight: Tensor) -> Tensor:
    """The weight of a linear layer in oneDNN's own layout, float32 on a CPU (2.6 to 2.13)."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), None)
    return packed


def packed_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`linear(x, weight, bias)` for a weight from `pack_weight` (2.6 to 2.13)."""
    result: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return result


def int8_product(x: Tensor, weight: Tensor) -> Tensor:
    """The product of two matrices of 8-bit integers, in 32 bits (2.6 to 2.13); wrong if the inner dimension is 1."""
    return torch._int_mm(x, weight)


@cache
def has_int8_product() -> bool:
    """Whether `int8_product` works on this machine's CPU."""
    x = torch.arange(-60, 60, dtype=torch.int8).view(-1, 8)
    try:
        return torch.equal(int8_product(x, x.t()), (x.long() @ x.t().long()).int())
    except (RuntimeError, AttributeError, TypeError):
        return False


def is_out_of_memory(error: BaseException) -> bool:
    """Whether device or host memory ran out; the CPU allocator has no error type, only this message (2.6 to 2.13)."""
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "DefaultCPUAllocator: " in str(error)
    )


@cache
def has_vnni() -> bool:
    """Whether the CPU adds 8-bit products without saturation (2.6 to 2.13); False if torch does not know."""
    with suppress(AttributeError):
        return bool(torch.cpu._is_vnni_supported())
    return False
