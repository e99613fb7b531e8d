"""Device and precision of a run, and torch's settings while it lasts."""

import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch

from regard.text.input_error import InputError
from regard.training.world import World

KINDS = ("cpu", "cuda", "mps", "xpu")


class DeviceWarning(UserWarning):
    """Training runs on another device than the user expects."""


def pick_device(name: str, world: World) -> torch.device:
    """The device that a recipe names, after a test; `auto` is a GPU if there is one. Each worker gets its own GPU."""
    if world.size > 1:
        return _own_device(name, world)
    if name == "auto":
        return _gpu_if_it_works()
    try:
        device = torch.device(name)
        if device.type not in KINDS:
            raise RuntimeError("nothing can be trained on it")
        _try(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"train.device = '{name}' cannot be used here ({reason}): valid choices are auto and {', '.join(KINDS)}"
        ) from error
    return device


def _gpu_if_it_works() -> torch.device:
    """The GPU, or the CPU with a warning where it fails: too old for this torch, or in use by another process."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    try:
        _try(torch.device("cuda"))
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        warnings.warn(f"the GPU cannot be used ({reason}): training on the CPU", DeviceWarning, stacklevel=2)
        return torch.device("cpu")
    return torch.device("cuda")


def _try(device: torch.device) -> None:
    """Run a small computation: a device that can allocate memory may still fail to compute."""
    float(torch.ones(1, device=device) + 1)


def _own_device(name: str, world: World) -> torch.device:
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if gpus else "cpu"
    if name not in ("cpu", "cuda"):
        raise InputError(
            f"train.device = '{name}' cannot be shared by {world.size} workers: valid choices are auto, cpu and cuda "
            "(each worker then takes a GPU of its own)"
        )
    if name == "cuda" and gpus < world.local_size:
        remedy = f"start one for each (--nproc-per-node={gpus})" if gpus else "set train.device=cpu"
        raise InputError(
            f"torchrun started {world.local_size} workers on {socket.gethostname()}, where torch finds {gpus} GPUs: "
            f"{remedy}"
        )
    return torch.device("cuda", world.local_rank) if name == "cuda" else torch.device("cpu")


def pick_precision(name: str, device: torch.device) -> torch.dtype | None:
    """The dtype of matrix products; None: float32 everywhere."""
    if name == "auto":
        name = "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    return torch.bfloat16 if name == "bf16" else None


@contextmanager
def torch_settings(seed: int, device: torch.device, deterministic: bool) -> Iterator[None]:
    """Set seed and determinism during a run; afterwards restore torch's settings, also the number of threads."""
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    if deterministic and device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats its results only with this
    current = nullcontext() if device.index is None or device.type != "cuda" else torch.cuda.device(device)
    with current, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(deterministic or before)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)
            torch.set_num_threads(threads)
