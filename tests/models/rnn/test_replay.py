"""Graphs that share their memory, with a stand-in for a graph: a replay that ruins what other shapes have kept."""

import gc
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.models.rnn.fused import replay as replaying
from regard.models.rnn.fused.replay import Replay

Tensors = tuple[Tensor, ...]


class Memory:
    """x² and its gradient as graphs would run them: what forward keeps lies in places that all shapes share."""

    def __init__(self) -> None:
        self.kept: list[Tensor] = []
        self.of: dict[int, Tensors] = {}

    def forward(self, x: Tensor) -> tuple[Tensors, Tensors]:
        return (x * x,), (x.clone(),)

    def backward(self, outside: Sequence[Tensor], given: Sequence[Tensor], kept: Sequence[Tensor]) -> Tensors:
        """A graph reads the places that it was captured with, whether anybody still holds them or not."""
        (place,) = self.of.setdefault(id(given), tuple(kept))
        return (2 * place * outside[0],)

    def capture(self, run: Callable[[], Any], pool: object = None) -> tuple["Graph", Any]:
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
            for place in self.memory.kept:
                place.fill_(float("nan"))
        pairs = zip(self.results, self.run(), strict=True) if self.reads else [(self.results, self.run())]
        for places, found in pairs:
            for place, tensor in zip(places, found, strict=True):
                place.copy_(tensor)


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Replay:
    memory = Memory()
    found = Replay(memory.forward, memory.backward, shared=True)
    monkeypatch.setattr(replaying, "_capture", memory.capture)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    monkeypatch.setattr(found, "_make_room", lambda device: None)
    find = found.shelf.find
    monkeypatch.setattr(
        found, "_shape", lambda given: find(len(given[0]), lambda: found._captured(given, given[0].device))
    )
    return found


def call(replay: Replay, x: Tensor) -> Callable[[], None]:
    """Forward now; what is returned runs backward and looks at both."""
    results, kept, ticket = replay.forward(x)

    def backward() -> None:
        assert torch.equal(results[0], x * x)
        assert torch.equal(replay.backward(ticket, [torch.ones(len(x))], [x], kept)[0], 2 * x)

    return backward


def test_one_call_after_the_other(replay: Replay) -> None:
    for number in range(4):  # plainly, captured, replayed
        for size in (2, 3):
            call(replay, torch.arange(1.0, 1 + size) + number)()
    assert len(replay.shelf) == 2
    assert len({id(shape.pool) for shape in replay.shelf.values() if shape is not None}) == 1
    assert all(shape is not None and shape.kept == () for shape in replay.shelf.values())


def test_calls_of_other_shapes_in_between_do_not_matter(replay: Replay) -> None:
    for _ in range(2):
        for size in (2, 3):
            call(replay, torch.ones(size))
    backwards = [call(replay, torch.ones(size) * number) for number, size in enumerate((2, 3, 2, 3), 5)]
    for backward in (*backwards, *reversed(backwards)):  # the first time backward is captured, too
        backward()


def test_nothing_is_collected_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that is let go then, with the cycle it lives in, ends the capture with an error."""
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "graph", lambda *_, **__: nullcontext())
    assert gc.isenabled()
    assert replaying._capture(gc.isenabled)[1] is False
    assert gc.isenabled()

    def fail() -> None:
        raise torch.OutOfMemoryError("full")

    with pytest.raises(torch.OutOfMemoryError):
        replaying._capture(fail)
    assert gc.isenabled()


def test_graphs_that_left_leave_their_memory_to_nobody(replay: Replay) -> None:
    for _ in range(2):
        call(replay, torch.ones(2))()
    late = call(replay, torch.ones(2) * 3)
    (old,) = (shape for shape in replay.shelf.values() if shape is not None)
    replay.shelf.clear()
    for _ in range(2):
        call(replay, torch.ones(2) * 4)()
    (new,) = (shape for shape in replay.shelf.values() if shape is not None)
    assert new.pool is not old.pool
    late()
