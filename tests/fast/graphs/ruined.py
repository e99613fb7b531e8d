"""A fake for CUDA graphs that share their memory: a replay overwrites the saved tensors of other shapes."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.fast.graphs import replay as replaying
from regard.fast.graphs.replay import Replay

Tensors = tuple[Tensor, ...]


class Memory:
    """x² and its gradient as graphs run them: the saved tensors are in memory that all shapes share."""

    def __init__(self) -> None:
        self.kept: list[Tensor] = []
        self.pools: list[object] = []
        self.runs = 0
        self.of: dict[int, tuple[object, Tensors]] = {}  # with what has that id, so that nothing else gets it

    def forward(self, x: Tensor) -> tuple[Tensors, Tensors]:
        return (x * x,), (x.clone(),)

    def backward(self, outside: Sequence[Tensor], given: Sequence[Tensor], kept: Sequence[Tensor]) -> Tensors:
        """A graph reads the addresses that it was captured with, even if the tensors are freed."""
        _, (place,) = self.of.setdefault(id(given), (given, tuple(kept)))
        return (2 * place * outside[0],)

    def capture(self, run: Callable[[], Any], pool: object = None) -> tuple["Graph", Any]:
        self.pools.append(pool)
        graph = Graph(self, run)
        return graph, graph.results


class Graph:
    def __init__(self, memory: Memory, run: Callable[[], Any]) -> None:
        self.memory, self.run, self.results = memory, run, run()
        self.reads = isinstance(self.results[0], tuple)
        if self.reads:
            memory.kept += self.results[1]

    def replay(self) -> None:
        if self.reads:
            self.memory.runs += 1
            for place in self.memory.kept:
                place.fill_(float("nan"))
        pairs = zip(self.results, self.run(), strict=True) if self.reads else [(self.results, self.run())]
        for places, found in pairs:
            for place, tensor in zip(places, found, strict=True):
                place.copy_(tensor)


class Drawing(Memory):
    """x times random numbers, which are kept."""

    def forward(self, x: Tensor) -> tuple[Tensors, Tensors]:
        drawn = torch.rand_like(x)
        return (x * drawn,), (drawn,)

    def backward(self, outside: Sequence[Tensor], given: Sequence[Tensor], kept: Sequence[Tensor]) -> Tensors:
        return (super().backward(outside, given, kept)[0] / 2,)


class Apart(Memory):
    """Each graph has its own memory."""

    def capture(self, run: Callable[[], Any], pool: object = None) -> tuple["Graph", Any]:
        graph, results = super().capture(run, pool)
        self.kept.clear()
        return graph, results


class Several(Memory):
    """Of two inputs, of which the second may be missing."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> tuple[Tensors, Tensors]:
        return super().forward(x if y is None else x + y)


ROOMY, FULL = (26, 100), (25, 100)


def fake(monkeypatch: pytest.MonkeyPatch, memory: Memory, *, shared: bool = True, random: bool = False) -> Replay:
    """A Replay that treats the CPU as a GPU."""
    monkeypatch.setattr(replaying, "_capture", memory.capture)
    monkeypatch.setattr(replaying, "_device", lambda given: torch.device("cuda", 0))
    monkeypatch.setattr(replaying, "_generator", lambda tensor: torch.default_generator)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: ROOMY)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    return Replay(memory.forward, memory.backward, shared=shared, random=random)


def sizes(replay: Replay) -> list[int]:
    """Of the inputs that there are graphs for."""
    return [len(shape.results[0]) for shape in replay.shelf.values() if shape is not None]


def call(replay: Replay, x: Tensor) -> Callable[[], None]:
    """Run forward; the returned function runs backward and checks both."""
    results, kept, ticket = replay.forward(x)

    def backward() -> None:
        outside = torch.rand(len(x))
        assert torch.equal(results[0], x * x)
        assert torch.equal(replay.backward(ticket, [outside], [x], kept)[0], 2 * x * outside)

    return backward


def refuse_backward(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(run: Callable[[], Any], pool: object = None) -> tuple[Any, Any]:
        graph, results = memory.capture(run, pool)
        if not graph.reads:
            raise RuntimeError("operation not permitted when stream is capturing")
        return graph, results

    monkeypatch.setattr(replaying, "_capture", refuse)
