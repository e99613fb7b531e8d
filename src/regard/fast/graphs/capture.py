"""Capture of a CUDA graph such that a failed capture leaves torch usable."""

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import torch

from regard.torch_private import end_broken_capture, give_graph_its_own_workspace


class LaunchedWarning(UserWarning):
    """Work that should have been replayed from a CUDA graph is launched operation by operation: slower, not wrong."""


_one_at_a_time = Lock()
_streams: dict[int, torch.cuda.Stream] = {}


@contextmanager
def capturing(graph: Any, pool: Any = None) -> Iterator[None]:
    """Captures work launched on the current device in `graph`, whose memory comes from `pool` or a new one.

    - torch captures one graph at a time in a process, hence the lock.
    - Each device has its own capture stream; torch's default one belongs to the device of the first capture. After a
      failed capture torch would leave it current, hence the outer stream context.
    - Garbage collection is off: it could destroy another graph, which CUDA forbids during a capture.
    - All graphs of a device must be replayed on one stream: before torch 2.12 their products share a workspace.
    - An exception inside the block propagates unchanged; the capture error that it causes is suppressed.
    """
    with _one_at_a_time, torch.cuda.stream(torch.cuda.current_stream()):
        device, collects = torch.cuda.current_device(), gc.isenabled()
        pool = pool or torch.cuda.graph_pool_handle()
        stream = _streams[device] = _streams.get(device) or torch.cuda.Stream()  # type: ignore[no-untyped-call]
        gc.disable()
        try:
            give_graph_its_own_workspace()
            with warnings.catch_warnings():
                # torch's warning if memory runs out at the first operation; the error itself is clearer.
                warnings.filterwarnings("ignore", message="The CUDA Graph is empty")
                capture = torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local")
                capture.__enter__()
                try:
                    yield
                except BaseException:
                    with suppress(RuntimeError):  # the capture error that follows from the exception
                        capture.__exit__(None, None, None)
                    raise
                capture.__exit__(None, None, None)
        except BaseException:
            _repair(device, pool, stream)
            raise
        finally:
            if collects:
                gc.enable()


def empty_cache() -> None:
    """Empties torch's cache, which is not possible while another thread captures."""
    with _one_at_a_time:
        torch.cuda.empty_cache()


def _repair(device: int, pool: Any, stream: Any) -> None:
    """Restores torch after a failed capture: its allocator, and by an empty capture its random number generator."""
    end_broken_capture(device, pool)
    with suppress(RuntimeError), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The CUDA Graph is empty")
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream, capture_error_mode="thread_local"):
            pass
