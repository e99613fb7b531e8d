"""Starts and stops the one training process of a studio."""

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

from regard.child import environment, python
from regard.server.errors import Refusal, unsupported
from regard.server.schema.runs import TrainRequest

MOST_REPORTED = 600
"""Characters of the reason why a process failed."""
GRACE = 10.0
"""Seconds in which a stopped process writes its checkpoint."""


@dataclass(eq=False)
class Training:
    """A process, its run folder, and what it writes to standard error."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]
    stopped: bool = False

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def problem(self) -> str | None:
        """Why it failed; None while it runs, when it is done, and when it was stopped."""
        if self.alive or self.stopped or self.process.returncode == 0:
            return None
        self.output.seek(0, os.SEEK_END)
        self.output.seek(max(0, self.output.tell() - MOST_REPORTED))
        lines = self.output.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"its process ended with code {self.process.returncode}"


class Trainer:
    """One training at a time, in a child process."""

    def __init__(self, runs: Path | None) -> None:
        self._runs = runs
        self._lock = Lock()
        self._all: dict[str, Training] = {}

    @property
    def can_train(self) -> bool:
        if self._runs is None:
            return False
        place = next(path for path in (self._runs.absolute(), *self._runs.absolute().parents) if path.exists())
        return place.is_dir() and os.access(place, os.W_OK)

    def find(self, name: str) -> Training | None:
        return self._all.get(name)

    def all(self) -> list[Training]:
        """The latest first."""
        return list(reversed(self._all.values()))

    def start(self, request: TrainRequest) -> Training:
        """Train the demo into a new folder below the runs."""
        if self._runs is None or not self.can_train:
            raise unsupported("this server does not train", hint="regard studio does, where --runs can be written")
        with self._lock:
            busy = [name for name, one in self._all.items() if one.alive]
            if busy:
                raise Refusal(409, "conflict", f"{busy[0]} is training: one run at a time", hint="stop it, or wait")
            folder = self._new_folder(request.pair)
            given = json.dumps({**request.model_dump(), "out": str(folder)})
            output = tempfile.TemporaryFile()  # noqa: SIM115, it outlives this call
            process = subprocess.Popen(
                python("regard.server.training_child", given),
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=output,
            )  # fmt: skip
            self._all[folder.name] = Training(folder, process, output)
            return self._all[folder.name]

    def _new_folder(self, pair: str) -> Path:
        assert self._runs is not None
        number = 1
        while (folder := self._runs / f"studio-{pair}-{number}").exists() or folder.name in self._all:
            number += 1
        return folder

    def stop(self, name: str) -> None:
        """Signal a process to save and end; wait for it, and kill it after the timeout."""
        training = self._all[name]
        if not training.alive:
            return
        training.stopped = True
        training.process.send_signal(signal.SIGTERM)
        try:
            training.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            training.process.kill()
            training.process.wait()

    def close(self) -> None:
        for name in self._all:
            self.stop(name)
