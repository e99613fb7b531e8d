"""The dynamic batcher: queued requests are computed together; cancellation, limits, failures and closing."""

from collections.abc import Callable, Sequence
from threading import Event

import pytest

from regard.runtime.batcher import Batcher, Closed, Done, Full


class Gate:
    """Work that begins only when it is opened, and records each batch."""

    def __init__(self) -> None:
        self.open, self.begun = Event(), Event()
        self.batches: list[list[object]] = []

    def __call__(self, items: Sequence[object], abandoned: Callable[[], bool]) -> list[object]:
        self.begun.set()
        assert self.open.wait(30)
        self.batches.append(list(items))
        return [f"{item}!" for item in items]


@pytest.fixture
def batcher() -> Batcher:
    return Batcher(most_rows=4, most_waiting=6)


def test_requests_of_a_kind_that_wait_together_are_computed_together_in_their_order(batcher: Batcher) -> None:
    gate = Gate()
    first = batcher.submit("a", gate, "a0")
    assert gate.begun.wait(30)
    rest = [batcher.submit(kind, gate, name) for kind, name in (("b", "b1"), ("a", "a1"), ("b", "b2"), ("a", "a2"))]
    assert (batcher.waiting, batcher.running) == (4, 1)
    gate.open.set()
    assert [one.future.result(30).value for one in (first, *rest)] == ["a0!", "b1!", "a1!", "b2!", "a2!"]
    assert gate.batches == [["a0"], ["b1", "b2"], ["a1", "a2"]]
    done: Done = rest[0].future.result()
    assert done.batch == 2
    assert done.waited >= 0
    assert done.worked >= 0
    batcher.close(30.0)


def test_a_batch_has_at_most_most_rows(batcher: Batcher) -> None:
    gate = Gate()
    batcher.submit("first", gate, 0)
    assert gate.begun.wait(30)
    sent = [batcher.submit("a", gate, name, rows) for name, rows in (("x", 2), ("y", 2), ("z", 1), ("wide", 9))]
    gate.open.set()
    batcher.close(30.0)
    assert [one.future.result().value for one in sent] == ["x!", "y!", "z!", "wide!"]
    assert gate.batches[1:] == [["x", "y"], ["z"], ["wide"]]


def test_a_full_queue_refuses_and_abandoned_requests_make_room(batcher: Batcher) -> None:
    gate = Gate()
    batcher.submit("a", gate, 0)
    assert gate.begun.wait(30)
    waiting = [batcher.submit("a", gate, number) for number in range(1, 7)]
    with pytest.raises(Full):
        batcher.submit("a", gate, 7)
    waiting[0].abandon()
    assert batcher.waiting == 5
    late = batcher.submit("a", gate, 8)
    gate.open.set()
    assert late.future.result(30).value == "8!"
    batcher.close(30.0)
    assert 1 not in [item for batch in gate.batches for item in batch]


def test_abandoned_is_true_when_the_whole_batch_is_abandoned(batcher: Batcher) -> None:
    seen: list[bool] = []
    begun, go_on = Event(), Event()

    def work(items: Sequence[object], abandoned: Callable[[], bool]) -> list[object]:
        seen.append(abandoned())
        begun.set()
        assert go_on.wait(30)
        seen.append(abandoned())
        return [None for _ in items]

    ticket = batcher.submit("a", work, 1)
    assert begun.wait(30)
    ticket.abandon()
    go_on.set()
    batcher.close(30.0)
    assert seen == [False, True]
    assert ticket.future.cancelled()


def test_a_failing_request_does_not_fail_the_others(batcher: Batcher) -> None:
    gate = Gate()
    batcher.submit("first", gate, 0)
    assert gate.begun.wait(30)

    def halve(items: Sequence[object], abandoned: Callable[[], bool]) -> list[float]:
        return [10 / int(str(item)) for item in items]

    sent = [batcher.submit("a", halve, number) for number in (5, 0, 2)]
    gate.open.set()
    batcher.close(30.0)
    assert [one.future.exception() is None for one in sent] == [True, False, True]
    assert isinstance(sent[1].future.exception(), ZeroDivisionError)
    assert [sent[0].future.result().value, sent[2].future.result().value] == [2.0, 5.0]


def test_close_finishes_queued_requests_and_refuses_new_ones(batcher: Batcher) -> None:
    gate = Gate()
    sent = [batcher.submit("a", gate, number) for number in range(3)]
    gate.open.set()
    alone = batcher.call(lambda abandoned: "alone")
    batcher.close(30.0)
    assert [one.future.result().value for one in (*sent, alone)] == ["0!", "1!", "2!", "alone"]
    with pytest.raises(Closed):
        batcher.submit("a", gate, 9)
