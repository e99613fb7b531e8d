"""Processes that share the work on a large corpus; a small one is done in this process, in the same way."""

import os
import pickle
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from regard.child import environment, python
from regard.text.errors import InputError
from regard.text.labour import Labourer

MOST = 8
"""Processes at most: beyond, reading the files is what takes the time."""


class Crew:
    """So many processes that do what `Labourer` can; with none, this process does it itself.

    They are started as programs of their own, not forked: torch's threads would not survive that, and a user's script
    needs no `if __name__ == "__main__"`.
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._alone = Labourer()
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Crew":
        command, given, pipe = python("regard.text.labour"), environment(), subprocess.PIPE
        self._workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, env=given) for _ in range(self.processes)]
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(max(1, self.processes))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

    @property
    def process_ids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """The same request to every process."""
        if not self._workers:
            return [getattr(self._alone, method)(*arguments)]
        return list(self._threads.map(lambda worker: _ask(worker, method, arguments), self._workers))

    def map(self, method: str, requests: Iterable[Sequence[Any]]) -> Iterator[Any]:
        """The answers in the order of the requests, of which only a few are read ahead."""
        if not self._workers:
            for arguments in requests:
                yield getattr(self._alone, method)(*arguments)
            return
        waiting: deque[Future[Any]] = deque()
        for arguments in requests:
            waiting.append(self._threads.submit(self._ask_any, method, arguments))
            if len(waiting) > 2 * self.processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _ask_any(self, method: str, arguments: Sequence[Any]) -> Any:
        worker = self._idle.get()
        try:
            return _ask(worker, method, arguments)
        finally:
            self._idle.put(worker)


def crew_size() -> int:
    """One process for each core that we may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def _ask(worker: subprocess.Popen[bytes], method: str, arguments: Sequence[Any]) -> Any:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        pickle.dump((method, tuple(arguments)), worker.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        worker.stdin.flush()
        failed, done = pickle.load(worker.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        code = worker.wait()
        reason = f"was killed by signal {-code}: is there too little memory?" if code < 0 else f"ended with code {code}"
        raise InputError(f"a process that prepared the corpus {reason}") from None
    if failed:
        raise done
    return done
