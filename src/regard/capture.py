"""The capture of a CUDA graph, so that one that fails harms nothing else; for `models` and `search`."""

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import torch


class LaunchedWarning(UserWarning):
    """Something is launched operation by operation that was meant to be replayed: slower, and not wrong."""


_one_at_a_time = Lock()
_streams: dict[int, torch.cuda.Stream] = {}


@contextmanager
def capturing(graph: Any, pool: Any = None) -> Iterator[None]:
    """Within, what is launched on the current device goes into `graph`, whose memory is of `pool` or its own.

    torch captures one graph at a time in a process. It does so on a stream of the device that it first did it on, where
    the work of another is not seen; and where a capture fails, that stream stays the current one.

    Python must not collect garbage meanwhile: a graph in it, of a model that is gone, would be destroyed, which CUDA
    does not permit during a capture and answers by breaking it off.

    The graphs of a device must be replayed on one stream: before torch 2.12 their products share a workspace.

    What goes wrong within is raised as it is, not as the error of the capture that breaks off for it.
    """
    with _one_at_a_time, torch.cuda.stream(torch.cuda.current_stream()):
        device, collects = torch.cuda.current_device(), gc.isenabled()
        pool = pool or torch.cuda.graph_pool_handle()
        stream = _streams[device] = _streams.get(device) or torch.cuda.Stream()  # type: ignore[no-untyped-call]
        gc.disable()
        try:
            _forget_workspaces()
            with warnings.catch_warnings():
                # Said where memory runs out at the first operation; the error itself says more.
                warnings.filterwarnings("ignore", message="The CUDA Graph is empty")
                capture = torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local")
                capture.__enter__()
                try:
                    yield
                except BaseException:
                    with suppress(RuntimeError):  # that it breaks off is no news
                        capture.__exit__(None, None, None)
                    raise
                capture.__exit__(None, None, None)
        except BaseException:
            _mend(device, pool, stream)
            raise
        finally:
            if collects:
                gc.enable()


def give_back_cached() -> None:
    """Empty torch's cache, which it cannot do while another thread captures."""
    with _one_at_a_time:
        torch.cuda.empty_cache()


def _forget_workspaces() -> None:
    """Give the products in the next graph a workspace of that graph's memory, where torch would take it from them.

    It keeps one for each stream, and so for all our graphs, in the memory of the first that has a product. From 2.12 on
    it frees that when any of them is destroyed; the others would go on to write there.
    """
    with suppress(AttributeError):  # a private name
        if torch.__version__ >= "2.12":
            torch._C._cuda_clearCublasWorkspaces()


def _mend(device: int, pool: Any, stream: Any) -> None:
    """Do what torch leaves undone where a capture breaks off.

    Before 2.13 nobody tells its allocator that the capture is over and its memory free: nothing that is cached would be
    given back any more. Its random numbers refuse to be drawn until a capture has ended well, so an empty one does.
    """
    with suppress(RuntimeError, AttributeError):  # it has been told
        torch._C._cuda_endAllocateToPool(device, pool)
        torch._C._cuda_releasePool(device, pool)
    with suppress(RuntimeError), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The CUDA Graph is empty")
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream, capture_error_mode="thread_local"):
            pass
