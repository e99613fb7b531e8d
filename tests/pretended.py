"""A fake CUDA device with streams and captures only, enough to run `torch.cuda.graph`."""

import warnings
from collections import Counter

import pytest
import torch

from regard.fast.graphs import capture


class Pretended:
    """Which stream is current, how many captures break, and who has memory of its allocator."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, forgets: bool = True) -> None:
        """`forgets`: like torch 2.11, which does not clean up after a failed capture; else like one that does."""
        self.current: object = "default"
        self.number, self.underway, self.breaks, self.empty, self.used = 0, 0, 0, False, list[object]()
        self.ended, self.cleared, self.given, self.filling = 0, 0, 0, list[object]()
        self.users = Counter[object]()
        device = self
        monkeypatch.setattr(capture, "_streams", {})  # or a pretended stream would stay behind

        class Graph:
            pool: object = None

            def capture_begin(self, pool: object = None, capture_error_mode: str = "global", **_: object) -> None:
                assert capture_error_mode == "thread_local"  # or what other threads do would break it
                if device.underway:
                    raise RuntimeError("one capture at a time")
                device.underway += 1
                device.used.append(device.current)
                self.begun = pool or object()
                device.filling.append(self.begun)
                device.users[self.begun] += 1

            def capture_end(self) -> None:
                device.underway -= 1
                broken, device.breaks = device.breaks > 0, device.breaks - 1
                if not (broken and forgets):
                    device.filling.remove(self.begun)
                    self.pool = self.begun
                if device.empty:
                    warnings.warn("The CUDA Graph is empty. This usually means …", stacklevel=2)
                if broken:
                    raise RuntimeError("operation failed due to a previous error during capture")
                device.ended += 1

            def __del__(self) -> None:
                if self.pool is not None:
                    device.users[self.pool] -= 1

        class Current:
            """As torch's: a stream that is entered and not left stays the current one."""

            def __init__(self, stream: object) -> None:
                self.stream = stream

            def __enter__(self) -> None:
                self.before, device.current = device.current, self.stream

            def __exit__(self, kind: object, value: object, traceback: object) -> None:
                device.current = self.before

        for name, value in {
            "CUDAGraph": Graph,
            "Stream": object,
            "graph_pool_handle": object,
            "stream": Current,
            "current_stream": lambda: self.current,
            "current_device": lambda: self.number,
            "synchronize": lambda: None,
            "empty_cache": self.give_back,
        }.items():
            monkeypatch.setattr(torch.cuda, name, value)
        for name, value in {
            "_cuda_endAllocateToPool": self.end,
            "_cuda_releasePool": self.release,
            "_cuda_clearCublasWorkspaces": self.clear,
            "_host_emptyCache": lambda: None,
        }.items():
            monkeypatch.setattr(torch._C, name, value, raising=False)
        monkeypatch.setattr(torch.cuda.graph, "default_capture_stream", None)

    def give_back(self) -> None:
        if self.filling:
            raise RuntimeError("captures_underway.empty() INTERNAL ASSERT FAILED")
        self.given += 1

    def end(self, number: int, pool: object) -> None:
        assert number == self.number
        if pool not in self.filling:
            raise RuntimeError("endAllocatePool: not currently recording to mempool_id")
        self.filling.remove(pool)

    def release(self, number: int, pool: object) -> None:
        assert number == self.number
        self.users[pool] -= 1

    def clear(self) -> None:
        assert not self.underway
        self.cleared += 1
