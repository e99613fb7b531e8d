"""A CUDA device of which only the current streams and captures are there: torch's own `torch.cuda.graph` runs on it."""

import warnings

import pytest
import torch


class Pretended:
    """Which stream is current, and how captures end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.current: object = "default"
        self.number, self.underway, self.breaks, self.empty, self.used = 0, 0, False, False, list[object]()
        self.pool, self.ended, self.told = None, 0, list[tuple[object, ...]]()
        device = self

        class Graph:
            def capture_begin(self, pool: object = None, **_: object) -> None:
                if device.underway:
                    raise RuntimeError("one capture at a time")
                device.underway += 1
                device.used.append(device.current)
                device.pool = pool or device.pool

            def capture_end(self) -> None:
                device.underway -= 1
                if device.empty:
                    warnings.warn("The CUDA Graph is empty. This usually means …", stacklevel=2)
                if device.breaks:
                    device.breaks = False
                    raise RuntimeError("operation failed due to a previous error during capture")
                device.ended += 1

        class Current:
            """As torch's: a stream that is entered and not left stays the current one."""

            def __init__(self, stream: object) -> None:
                self.stream = stream

            def __enter__(self) -> None:
                self.before, device.current = device.current, self.stream

            def __exit__(self, *_: object) -> None:
                device.current = self.before

        for name, value in {
            "CUDAGraph": Graph,
            "Stream": object,
            "graph_pool_handle": object,
            "stream": Current,
            "current_stream": lambda: self.current,
            "current_device": lambda: self.number,
            "synchronize": lambda: None,
            "empty_cache": lambda: None,
        }.items():
            monkeypatch.setattr(torch.cuda, name, value)
        monkeypatch.setattr(torch._C, "_cuda_endAllocateToPool", lambda *told: self.told.append(told), raising=False)
        monkeypatch.setattr(torch._C, "_host_emptyCache", lambda: None, raising=False)
        monkeypatch.setattr(torch.cuda.graph, "default_capture_stream", None)
