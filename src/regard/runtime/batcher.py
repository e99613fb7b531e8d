"""Dynamic batcher: one worker thread decodes the requests of many clients, requests of the same kind together.

    waiting   a₁ b₁ a₂ a₃ b₂          the worker is free: it takes a₁ and everything of a₁'s kind
    batch     a₁ a₂ a₃
    waiting   b₁ b₂                   requests that arrive during a batch wait for the next: load makes batches larger

No request waits for others to arrive: a client alone is served at once.
"""

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

Together = Callable[[Sequence[Any], Callable[[], bool]], Sequence[Any]]
"""(items, abandoned) -> one result for each item; `abandoned()` is True once nobody waits for any of them."""


class Full(Exception):
    """The queue is full."""


class Closed(Exception):
    """The batcher is stopping and accepts no more requests."""


@dataclass(frozen=True, eq=False)
class Done:
    """A result, with statistics of its batch."""

    value: Any
    batch: int
    """Items that were decoded together."""
    waited: float
    worked: float
    """Seconds."""


@dataclass(eq=False)
class Ticket:
    """A request in the queue; `future` gets its `Done` or the exception that it caused."""

    kind: Hashable
    together: Together
    item: Any
    rows: int
    future: "Future[Done]" = field(default_factory=Future)
    arrived: float = field(default_factory=time.perf_counter)
    abandoned: bool = False

    def abandon(self) -> None:
        """Abandon the request: it leaves the queue, or its work ends once its whole batch is abandoned."""
        self.abandoned = True
        self.future.cancel()


class Batcher:
    """Runs requests in one daemon thread; `submit` never blocks, and `close` ends the thread after the last request.

    A batch has at most `most_rows` rows: hypotheses that a step computes together.
    """

    def __init__(self, *, most_rows: int = 64, most_waiting: int = 64) -> None:
        self.most_rows, self.most_waiting = most_rows, most_waiting
        self.running = 0
        """Requests that are being decoded now."""
        self._queue: deque[Ticket] = deque()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._work, name="regard-batcher", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """The number of queued requests that are not abandoned."""
        with self._changed:
            return sum(not one.abandoned for one in self._queue)

    def submit(self, kind: Hashable, together: Together, item: Any, rows: int = 1) -> Ticket:
        """Queue an item; items of one kind are passed together to the `together` of the first of them."""
        ticket = Ticket(kind, together, item, rows)
        with self._changed:
            if self._closed:
                raise Closed
            if len(self._queue) >= self.most_waiting:
                self._queue = deque(one for one in self._queue if not one.abandoned)
            if len(self._queue) >= self.most_waiting:
                raise Full
            self._queue.append(ticket)
            self._changed.notify()
        return ticket

    def call(self, work: Callable[[Callable[[], bool]], Any]) -> Ticket:
        """Queue work that is not batched with others; it is passed `abandoned`."""
        return self.submit(object(), lambda items, abandoned: [work(abandoned)], None)

    def close(self, seconds: float | None = None) -> None:
        """Accept no more requests, finish the queued ones, end the thread; wait for it at most `seconds`."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(seconds)

    def _work(self) -> None:
        while batch := self._next():
            self.running = len(batch)
            self._run(batch)
            self.running = 0

    def _next(self) -> list[Ticket]:
        """The oldest request and those of its kind that fit; empty when the batcher is closed and nothing is left."""
        with self._changed:
            while True:
                waiting = [one for one in self._queue if not one.abandoned]
                if waiting or self._closed:
                    break
                self._queue.clear()
                self._changed.wait()
            batch: list[Ticket] = []
            left: deque[Ticket] = deque()
            rows = 0
            for one in waiting:
                if one.kind == waiting[0].kind and (not batch or rows + one.rows <= self.most_rows):
                    batch.append(one)
                    rows += one.rows
                else:
                    left.append(one)
            self._queue = left
        return batch

    def _run(self, batch: Sequence[Ticket]) -> None:
        """Compute a batch; if it fails, compute each request alone, so that a bad request does not fail the others."""
        begun = time.perf_counter()
        results: Sequence[Any]
        try:
            results = batch[0].together([one.item for one in batch], lambda: all(one.abandoned for one in batch))
        except BaseException as error:  # reported to the waiting clients, not to this thread
            if len(batch) > 1 and not all(one.abandoned for one in batch):
                for one in batch:
                    self._run([one])
                return
            results = [error]
        worked = time.perf_counter() - begun
        for one, result in zip(batch, results, strict=False):
            if not one.future.set_running_or_notify_cancel():
                continue
            if isinstance(result, BaseException):
                one.future.set_exception(result)
            else:
                one.future.set_result(Done(result, len(batch), begun - one.arrived, worked))
