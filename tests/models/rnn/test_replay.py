"""Graphs that share their memory, with a stand-in for a graph: a replay that ruins what other shapes have kept."""

from collections.abc import Callable, Sequence
from threading import Thread
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
        self.of: dict[int, tuple[object, Tensors]] = {}  # with what has that id, so that nothing else gets it

    def forward(self, x: Tensor) -> tuple[Tensors, Tensors]:
        return (x * x,), (x.clone(),)

    def backward(self, outside: Sequence[Tensor], given: Sequence[Tensor], kept: Sequence[Tensor]) -> Tensors:
        """A graph reads the places that it was captured with, whether anybody still holds them or not."""
        _, (place,) = self.of.setdefault(id(given), (given, tuple(kept)))
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
    monkeypatch.setattr(replaying, "_roomy", lambda device: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
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


def test_threads_take_turns(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread calls the same shape after one has filled its places, and before it replays."""
    for _ in range(2):
        call(replay, torch.ones(2))()
    others: list[Tensor] = []
    other = Thread(target=lambda: others.append(replay.forward(torch.full((2,), 5.0))[0][0]))
    fill = replaying._fill

    def interrupted(places: Sequence[Tensor], given: Sequence[Tensor]) -> None:
        fill(places, given)
        if not other.ident:
            other.start()
            other.join(timeout=0.5)  # or it waits, as it should

    monkeypatch.setattr(replaying, "_fill", interrupted)
    call(replay, torch.full((2,), 3.0))()
    other.join()
    assert torch.equal(others[0], torch.full((2,), 25.0))


def test_within_another_capture_nobody_waits_for_a_turn(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread whose turn it is may be waiting for that capture to end."""
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(replaying, "_within_a_capture", lambda given: True)
    inside = Thread(target=lambda: call(replay, torch.ones(2) * 3)(), daemon=True)
    with replay._turn:
        inside.start()
        inside.join(timeout=20)
        assert not inside.is_alive()


def test_what_cannot_be_captured_is_launched(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said once, and no other shape is tried; a graph that is there goes on."""
    for _ in range(3):
        call(replay, torch.ones(2))()

    def refuse(*_: object) -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(replaying, "_capture", refuse)
    call(replay, torch.ones(3))()
    with pytest.warns(UserWarning, match="could not be captured .* not permitted"):
        call(replay, torch.ones(3))()
    for size in (2, 3, 4, 4):
        call(replay, torch.ones(size) * 7)()
    assert [size for size, shape in replay.shelf.items() if shape is not None] == [2]


def test_a_backward_that_cannot_be_captured_is_launched(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although forward was: what it kept is in a graph's memory, so forward runs once more, plainly."""
    capture = replaying._capture

    def refuse(run: Callable[[], Any], pool: object = None) -> tuple[Any, Any]:
        graph, results = capture(run, pool)
        if not graph.reads:
            raise RuntimeError("operation not permitted when stream is capturing")
        return graph, results

    monkeypatch.setattr(replaying, "_capture", refuse)
    call(replay, torch.ones(2))()
    late = call(replay, torch.ones(2) * 2)
    with pytest.warns(UserWarning, match="could not be captured .* not permitted"):
        call(replay, torch.ones(2) * 3)()
    with pytest.warns(UserWarning, match="could not be captured .* not permitted"):
        late()
    for size in (2, 3, 3):
        call(replay, torch.ones(size) * 7)()
    assert not any(replay.shelf.values())


def test_where_memory_is_nearly_full_graphs_in_use_stay(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have taken it: no new shape is captured, and nothing is lost for when it is free again."""
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(replaying, "_roomy", lambda device: False)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: pytest.fail("waits for the GPU, and gains nothing"))
    for _ in range(40):
        for size in (2, 3):
            call(replay, torch.ones(size) * 3)()
    assert [size for size, shape in replay.shelf.items() if shape is not None] == [2]
    monkeypatch.setattr(replaying, "_roomy", lambda device: True)
    call(replay, torch.ones(3))()
    assert all(replay.shelf.values())


def test_where_memory_is_nearly_full_idle_graphs_make_room(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(replaying, "_roomy", lambda device: 2 not in replay.shelf)
    monkeypatch.setattr(replaying, "IDLE", 5)
    for number in range(10):
        call(replay, torch.ones(3) * number)()
        assert (2 in replay.shelf) == (number < 5)
    assert [size for size, shape in replay.shelf.items() if shape is not None] == [3]


def test_where_memory_runs_out_all_graphs_leave_and_may_come_back(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        call(replay, torch.ones(2))()
    capture = replaying._capture

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(replaying, "_capture", fail)
    for _ in range(2):
        call(replay, torch.ones(3))()
    assert not any(replay.shelf.values())
    monkeypatch.setattr(replaying, "_capture", capture)
    call(replay, torch.ones(3) * 2)()
    assert [size for size, shape in replay.shelf.items() if shape is not None] == [3]
