"""Interleaved calls: every call gets its own gradients, although replays overwrite saved tensors."""

from collections.abc import Sequence
from contextlib import nullcontext
from threading import Thread

import pytest
import torch
from torch import Tensor

from pretended import Pretended
from regard.fast.graphs import replay as replaying
from regard.fast.graphs.capture import LaunchedWarning
from regard.fast.graphs.replay import Replay

from .ruined import Apart, Drawing, Memory, Several, call, fake, refuse_backward, sizes


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Replay:
    return fake(monkeypatch, Memory())


def test_a_graph_is_captured_into_the_given_memory_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    device, pool = Pretended(monkeypatch), object()
    _, filled = replaying._capture(lambda: list(device.filling), pool)
    assert filled == [pool]


def test_one_call_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    replay = fake(monkeypatch, memory)
    for number in range(4):  # plainly, captured, replayed
        for size in (2, 3):
            call(replay, torch.arange(1.0, 1 + size) + number)()
    assert len(replay.shelf) == 2
    assert len(memory.pools) == 4
    assert None not in memory.pools
    assert len(set(memory.pools)) == 1
    assert memory.runs == 2 * 3  # none of them was needed twice
    assert all(shape is not None and shape.kept == () for shape in replay.shelf.values())


def test_calls_of_other_shapes_may_interleave(replay: Replay) -> None:
    for _ in range(2):
        for size in (2, 3):
            call(replay, torch.ones(size))
    backwards = [call(replay, torch.ones(size) * number) for number, size in enumerate((2, 3, 2, 3), 5)]
    for backward in (*backwards, *reversed(backwards)):  # the first time backward is captured, too
        backward()


def test_graphs_with_memory_of_their_own_need_no_second_run_for_other_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Apart()
    replay = fake(monkeypatch, memory, shared=False)
    for _ in range(3):
        for backward in [call(replay, torch.ones(size)) for size in (2, 3)]:
            backward()
    assert memory.runs == 2 * 2
    assert set(memory.pools) == {None}


def test_results_and_gradients_are_copies(replay: Replay) -> None:
    """The gradients passed to backward are not changed either."""
    seen: list[tuple[Tensor, ...]] = []
    for number in range(1, 5):
        x, outside = torch.full((2,), float(number)), torch.full((2,), 10.0 * number)
        results, kept, ticket = replay.forward(x)
        seen.append((*results, *replay.backward(ticket, [outside], [x], kept), outside))
    for number, (result, gradient, outside) in enumerate(seen, 1):
        assert result.tolist() == [number**2] * 2
        assert gradient.tolist() == [20 * number**2] * 2
        assert outside.tolist() == [10 * number] * 2


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_use_the_random_state_of_their_forward_pass(
    shared: bool, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after calls that drew other numbers, and if backward cannot be captured; the global state is unchanged."""
    memory = Drawing()
    replay, one = fake(monkeypatch, memory, shared=shared, random=True), torch.ones(2)
    if refused:
        refuse_backward(memory, monkeypatch)
    replay.forward(one)
    calls = [replay.forward(one) for _ in range(3)]
    state = torch.get_rng_state()
    with pytest.warns(UserWarning, match="not permitted") if refused else nullcontext():
        for results, kept, ticket in (*calls, *reversed(calls)):
            assert torch.equal(replay.backward(ticket, [one], [one], kept)[0], results[0])
    assert torch.equal(torch.get_rng_state(), state)
    assert len({tuple(results[0].tolist()) for results, _, _ in calls}) == 3


def test_the_cache_key_of_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes, dtypes, missing inputs and precision are part of the key."""
    replay, double = fake(monkeypatch, Several()), torch.ones(2, dtype=torch.float64)
    for given in ((torch.ones(2), None), (torch.ones(3), None), (double, None), (double, double)):
        first, second, third = (replay.forward(*given)[2].shape for _ in range(3))
        assert first is None
        assert second is not None
        assert third is second
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high" if before != "high" else "highest")
        assert replay.forward(double, None)[2].shape is None
    finally:
        torch.set_float32_matmul_precision(before)
    monkeypatch.setattr(replaying, "_device", lambda given: torch.device("cuda", 1))
    assert replay.forward(double, None)[2].shape is None


@pytest.mark.parametrize("what", ["forward", "backward", "forget"])
def test_calls_of_several_threads_are_serialised(what: str, replay: Replay) -> None:
    for _ in range(3):
        call(replay, torch.ones(2))()
    late = call(replay, torch.ones(2))
    run = {"forward": lambda: call(replay, torch.ones(2)), "backward": late, "forget": replay.forget}[what]
    other = Thread(target=run)
    with replay._turn:
        other.start()
        other.join(timeout=0.2)
        assert other.is_alive()
    other.join()


def test_dropped_graphs_free_their_memory(replay: Replay) -> None:
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


@pytest.mark.parametrize("shared", [True, False])
def test_an_interrupted_run_invalidates_earlier_results(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an interrupt in a notebook, followed by backward of the previous call."""
    replay = fake(monkeypatch, Memory(), shared=shared)
    for _ in range(2):
        call(replay, torch.ones(2))()
    late = call(replay, torch.ones(2) * 3)
    (shape,) = replay.shelf.values()
    assert shape is not None
    again = shape.forward.replay

    def interrupted() -> None:
        again()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shape.forward, "replay", interrupted)
        with pytest.raises(KeyboardInterrupt):
            call(replay, torch.ones(2) * 5)
    late()


def test_threads_take_turns(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread calls the same shape after one has filled its buffers and before it replays."""
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


def test_calls_within_another_capture_do_not_wait(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that holds the lock may be waiting for that capture to end."""
    for _ in range(3):
        call(replay, torch.ones(2))()
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    inside = Thread(target=lambda: call(replay, torch.ones(2) * 3)(), daemon=True)
    with replay._turn:
        inside.start()
        inside.join(timeout=20)
        assert not inside.is_alive()


def test_a_function_that_cannot_be_captured_is_launched(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one warning; no other shape is tried, and existing graphs are still replayed."""
    for _ in range(3):
        call(replay, torch.ones(2))()

    def refuse(*_: object) -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(replaying, "_capture", refuse)
    call(replay, torch.ones(3))()
    with pytest.warns(LaunchedWarning, match="could not be captured .* not permitted"):
        call(replay, torch.ones(3))()
    for size in (2, 3, 4, 4):
        call(replay, torch.ones(size) * 7)()
    assert sizes(replay) == [2]


def test_a_backward_that_cannot_be_captured_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although forward was captured: its saved tensors are in the graph's memory, so forward runs again, plainly."""
    memory = Memory()
    replay = fake(monkeypatch, memory)
    refuse_backward(memory, monkeypatch)
    call(replay, torch.ones(2))()
    late = call(replay, torch.ones(2) * 2)
    with pytest.warns(LaunchedWarning, match="could not be captured .* not permitted"):
        call(replay, torch.ones(2) * 3)()
    with pytest.warns(LaunchedWarning, match="could not be captured .* not permitted"):
        late()
    for size in (2, 3, 3):
        call(replay, torch.ones(size) * 7)()
    assert not any(replay.shelf.values())
