"""Host time of a call of additive attention, forward and backward, without its kernels: they are replaced by no-ops.

    python benchmarks/additive_host.py                                      this checkout
    PYTHONPATH=../old/src python -P benchmarks/additive_host.py             another one, also before the registry

Needs Triton, but no GPU. What remains is checking, dispatch, allocation and autograd. Prints the lowest and the median
processor time over 15 rounds.
"""

import statistics
import time
from importlib import import_module
from typing import Any

import torch

from regard.attention import additive_attention

ROUNDS, CALLS = 15, 300


class NoKernel:
    def __getitem__(self, grid: Any) -> Any:
        return lambda *given, **options: None


def without_kernels() -> None:
    """Every module that launches kernels believes that they run, and launches nothing."""
    try:
        import_module("regard.fast")
        folder, names = "regard.fast.additive", ("score_kernels", "gradient_kernels", "step_kernel", "launch", "fused")
    except ModuleNotFoundError:
        folder, names = "regard.attention.additive", ("kernel", "kernel_backward", "kernel_step", "launch", "op")
    for module in (import_module(f"{folder}.{name}") for name in names):
        for name in list(vars(module)):
            if name.endswith("_kernel"):
                setattr(module, name, NoKernel())
        if hasattr(module, "kernels_run_on"):
            vars(module)["kernels_run_on"] = lambda device: True


def main() -> None:
    torch.set_num_threads(1)
    without_kernels()
    shapes = (2, 8, 16), (2, 8, 16), (16,), (2, 8, 16)
    leaves = [torch.randn(shape).requires_grad_() for shape in shapes]
    mask, gradient = torch.ones(2, 8, 8, dtype=torch.bool), torch.randn(2, 8, 16)
    times = []
    for _ in range(ROUNDS + 1):  # the first one warms up
        began = time.process_time()
        for _ in range(CALLS):
            context, _ = additive_attention(*leaves, mask)
            torch.autograd.grad(context, leaves, gradient)
        times.append(1e6 * (time.process_time() - began) / CALLS)
    print(f"{min(times[1:]):.0f} µs, median {statistics.median(times[1:]):.0f}")


if __name__ == "__main__":
    main()
