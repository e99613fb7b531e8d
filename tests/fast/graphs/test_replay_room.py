"""Little free memory: which graphs are kept, which are dropped, and which errors reach the caller."""

from collections.abc import Iterator
from threading import Thread
from weakref import WeakSet

import pytest
import torch

from regard.fast.graphs import capture
from regard.fast.graphs import replay as replaying
from regard.fast.graphs.replay import Replay, forget_graphs

from .ruined import FULL, ROOMY, Memory, call, fake, sizes


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Replay:
    return fake(monkeypatch, Memory())


def test_with_little_free_memory_active_graphs_are_kept(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may use the memory for a while: no new shape is captured, and existing graphs are kept."""
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: FULL)
    for _ in range(40):
        for size in (2, 3):
            call(replay, torch.ones(size) * 3)()
    assert sizes(replay) == [2]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: ROOMY)
    call(replay, torch.ones(3))()
    assert all(replay.shelf.values())


def test_with_little_free_memory_the_cache_is_not_emptied_at_every_call(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emptying it synchronises the device and makes later calls allocate again: slower than no graphs at all."""
    emptied: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(replay.shelf.calls))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: FULL)
    monkeypatch.setattr(replaying, "IDLE", 20)
    for _ in range(30):
        call(replay, torch.ones(2))()
    assert emptied == [1, 21]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: ROOMY if len(emptied) > 2 else FULL)
    for _ in range(15):
        call(replay, torch.ones(2))()
    assert emptied == [1, 21, 41]
    assert all(replay.shelf.values())


def test_where_emptying_the_cache_helps_it_is_emptied_for_every_shape(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = False

    def empty() -> None:
        nonlocal room
        assert capture._one_at_a_time.locked()  # while no other thread captures
        room = True

    monkeypatch.setattr(torch.cuda, "empty_cache", empty)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: ROOMY if room else FULL)
    for size in (2, 3, 4):
        room = False
        for _ in range(2):
            call(replay, torch.ones(size))()
    assert all(replay.shelf.values())
    room = False
    forget_graphs()
    assert room
    assert not replay.shelf


def test_with_little_free_memory_idle_graphs_are_dropped(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: FULL if 2 in sizes(replay) else ROOMY)
    monkeypatch.setattr(replaying, "IDLE", 5)
    for number in range(10):
        call(replay, torch.ones(3) * number)()
        assert (2 in sizes(replay)) == (number < 5)
    assert sizes(replay) == [3]


def test_out_of_memory_drops_all_graphs_which_may_be_captured_again(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        call(replay, torch.ones(2))()
    working = replaying._capture

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(replaying, "_capture", fail)
    for _ in range(2):
        call(replay, torch.ones(3))()
    assert not any(replay.shelf.values())
    monkeypatch.setattr(replaying, "_capture", working)
    call(replay, torch.ones(3) * 2)()
    assert sizes(replay) == [3]


def test_out_of_memory_in_backward_is_raised_to_the_caller(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller frees memory and may retry."""
    call(replay, torch.ones(2))
    late = call(replay, torch.ones(2) * 3)

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("full")

    with monkeypatch.context() as patch:
        patch.setattr(replaying, "_capture", fail)
        with pytest.raises(torch.OutOfMemoryError, match="full"):
            late()
    late()
    assert sizes(replay) == [2]


def test_graphs_can_be_dropped_while_another_thread_creates_a_function(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Replay] = []
    other = Thread(target=lambda: made.append(Replay(replay._plain_forward, replay._plain_backward)))

    class Interrupted(WeakSet[Replay]):
        def __iter__(self) -> Iterator[Replay]:
            for one in super().__iter__():
                if not other.ident:
                    other.start()
                    other.join(timeout=0.5)  # or it waits, as it should
                yield one

    monkeypatch.setattr(replaying, "_replays", Interrupted([replay]))
    for _ in range(3):
        call(replay, torch.ones(2))()
    forget_graphs()
    other.join()
    assert not replay.shelf
    assert set(replaying._replays) == {replay, *made}
