"""Worker processes for large corpora; without processes the pool runs the task in this process."""

import os
import pickle
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from regard.child import environment, python
from regard.text.input_error import InputError

MOST = 8
"""Largest number of worker processes: with more, reading the files limits the speed."""

Answer = TypeVar("Answer")


class WorkerPool(Generic[Answer]):
    """Calls one picklable task in several processes.

    They are started as programs, not forked: torch's threads would not survive a fork, and a user's script needs no
    `if __name__ == "__main__"`.
    """

    def __init__(self, task: Callable[..., Answer], processes: int) -> None:
        self.task = task
        self.processes = processes
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "WorkerPool[Answer]":
        command, given, pipe = python("regard.text.worker"), environment(), subprocess.PIPE
        self._workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, env=given) for _ in range(self.processes)]
        self._threads = ThreadPoolExecutor(max(1, self.processes))
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for worker in self._workers:
            self._threads.submit(self._prepare, worker)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._threads.shutdown(wait=error is None, cancel_futures=True)
        for worker in self._workers:
            if error is not None:
                worker.kill()
            assert worker.stdin is not None
            assert worker.stdout is not None
            with suppress(OSError):
                worker.stdin.close()
            worker.wait()
            worker.stdout.close()
        self._threads.shutdown()

    def map(self, requests: Iterable[tuple[Any, ...]]) -> Iterator[Answer]:
        """The answers in the order of the requests (argument tuples), of which only a few are read ahead."""
        if not self._workers:
            yield from (self.task(*arguments) for arguments in requests)
            return
        waiting: deque[Future[Answer]] = deque()
        for arguments in requests:
            waiting.append(self._threads.submit(self._call, arguments))
            if len(waiting) > 2 * self.processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _prepare(self, worker: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):  # a dead worker is reported by its first request
            _send(worker, self.task)
        self._idle.put(worker)

    def _call(self, arguments: tuple[Any, ...]) -> Answer:
        worker = self._idle.get()
        try:
            assert worker.stdout is not None
            _send(worker, arguments)
            failed, answer = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = worker.wait()
            reason = f"was killed by signal {-code}: is there too little memory?" if code < 0 else f"exited with {code}"
            raise InputError(f"a worker process that prepared the corpus {reason}") from None
        finally:
            self._idle.put(worker)
        if failed:
            raise answer
        return answer  # type: ignore[no-any-return]


def _send(worker: subprocess.Popen[bytes], value: object) -> None:
    assert worker.stdin is not None
    pickle.dump(value, worker.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    worker.stdin.flush()


def worker_count() -> int:
    """One worker process for each core that this process may use."""
    return min(count_cores(), MOST)


def count_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
