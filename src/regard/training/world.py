"""Data-parallel training by several workers: the only file that imports torch.distributed.

`torchrun` starts the workers and numbers them. All go through the same steps with the same weights; each computes the
gradients of its rows of every batch, DDP averages them, and worker 0 writes the files.
"""

import hashlib
import os
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from regard.text.input_error import FailedElsewhere, InputError

TIMEOUT = timedelta(hours=1)
"""Timeout of a collective operation: reading data or saving takes some workers longer than others."""

Value = TypeVar("Value")


class WorkerLost(RuntimeError):
    """The connection to another worker is lost."""


@dataclass(frozen=True)
class World:
    """The rank of this worker and the number of workers. In a world of one, every operation is a no-op."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """The rank among the `local_size` workers of this machine."""
    local_size: int = 1

    @property
    def writer(self) -> bool:
        """Worker 0 writes files and reports."""
        return self.rank == 0

    @property
    def name(self) -> str:
        return f"worker {self.rank} of {self.size} on {socket.gethostname()}"

    def gather(self, value: Value) -> list[Value]:
        """All workers' values, in the order of their ranks."""
        found: list[Any] = [value] * self.size
        if self.size > 1:
            distributed.all_gather_object(found, value)
        return found

    def broadcast(self, value: Value) -> Value:
        """Worker 0's value."""
        if self.size == 1:
            return value
        found: list[Any] = [value]
        distributed.broadcast_object_list(found)
        received: Value = found[0]
        return received

    def total(self, number: float) -> float:
        """The sum over all workers."""
        if self.size == 1:
            return number
        numbers = torch.tensor([number], dtype=torch.float64)
        distributed.all_reduce(numbers)
        return float(numbers)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set for at least one worker."""
        return flag if self.size == 1 else self.total(float(flag)) > 0

    @contextmanager
    def fail_together(self) -> Iterator[None]:
        """An InputError in one worker ends all of them at the end of the block; the first worker reports it.

        No collective operation may run inside the block: a worker that has failed would not take part.
        """
        problem = None
        try:
            yield
        except InputError as error:
            problem = error
        problems = self.gather(None if problem is None else str(problem))
        first = next((rank for rank, message in enumerate(problems) if message is not None), None)
        if problem is not None and first == self.rank:
            if self.writer:
                raise problem
            raise InputError(f"{self.name}: {problem}") from problem
        if first is not None:
            raise FailedElsewhere(f"worker {first} of {self.size} reported the error")

    def seed_step(self, seed: int, step: int) -> None:
        """Seed the random numbers of a step: dropout differs between workers and is repeated after a resume."""
        if self.size > 1:
            digest = hashlib.sha256(f"{seed} {step} {self.rank}".encode()).digest()
            torch.manual_seed(int.from_bytes(digest[:8]) >> 1)

    @property
    def launch(self) -> str | None:
        """torchrun's run id, which stays the same when it restarts its workers; None if it has none."""
        name = os.environ.get("TORCHELASTIC_RUN_ID")
        return None if name == "none" else name

    def connect(self) -> None:
        """Connect all workers with gloo, which sends host memory; gradients on a GPU use a NCCL group of their own."""
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
            distributed.init_process_group("gloo", timeout=TIMEOUT)
            return
        from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # not in every build of torch

        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = TCPStore(address, port, is_master=False, timeout=TIMEOUT)
        distributed.init_process_group(
            "gloo",
            store=_fresh_store(PrefixStore("regard", store), self.rank, self.size),
            rank=self.rank,
            world_size=self.size,
            timeout=TIMEOUT,
        )


def find_world() -> World:
    """This process as torchrun's environment variables describe it; a world of one without them."""
    given = os.environ
    if not {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= given.keys():
        return World()
    local_rank, local_size = int(given.get("LOCAL_RANK", 0)), int(given.get("LOCAL_WORLD_SIZE", 1))
    return World(int(given["RANK"]), int(given["WORLD_SIZE"]), local_rank, local_size)


@contextmanager
def join() -> Iterator[World]:
    """Connect this process with the other workers that torchrun started, while the block runs."""
    world = find_world()
    if world.size == 1 or distributed.is_initialized():
        yield world
        return
    try:
        world.connect()
        yield world
    except RuntimeError as error:
        if not _is_lost(error):
            raise
        raise WorkerLost(
            f"{world.name} lost the connection to another worker, so the run ends here ({_reason(error)}): "
            "resume from its last checkpoint with --resume, with any number of workers"
        ) from error
    distributed.destroy_process_group()


class Replica:
    """This worker's copy of the model; DDP averages the gradients of all copies, once for each step.

    `parallel(compute)` runs a forward pass inside DDP; it is None if this worker is the only one.
    """

    def __init__(self, world: World, model: nn.Module | None = None, unused: bool = False) -> None:
        """`unused`: some parameters get no gradient, and DDP must not wait for them."""
        self.world = world
        self.parallel: DistributedDataParallel | None = None
        if world.size > 1 and model is not None:
            cuda = next(model.parameters()).is_cuda
            self.parallel = DistributedDataParallel(
                _Forward(model),
                process_group=distributed.new_group(backend="nccl", timeout=TIMEOUT) if cuda else None,
                find_unused_parameters=unused,
            )

    @property
    def size(self) -> int:
        return 1 if self.parallel is None else self.world.size

    def adding(self, last: bool) -> Any:
        """Context of a forward and backward pass: only the `last` one of a step synchronises the gradients."""
        return nullcontext() if self.parallel is None or last else self.parallel.no_sync()


ALONE = Replica(World())


class _Forward(nn.Module):
    """DDP wraps a module's forward; this one runs any function of the model's parameters."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, compute: Callable[[], Value]) -> Value:
        return compute()


def _fresh_store(store: Any, rank: int, size: int) -> Any:
    """A prefix of torchrun's store that only this round of workers uses.

    The store survives a restart and still holds the addresses of dead workers. Worker 0 draws a prefix; the others
    accept it once worker 0 has acknowledged their nonce under it, which a dead worker 0 cannot do.
    """
    from torch.distributed import PrefixStore  # type: ignore[attr-defined]

    mine = uuid.uuid4().hex
    if rank == 0:
        store.set("round", mine)
        for other in range(1, size):
            nonce = store.get(f"{mine}/{other}").decode()
            store.set(f"{mine}/{nonce}", "welcome")
        return PrefixStore(mine, store)
    while True:
        name = store.get("round").decode()
        store.set(f"{name}/{rank}", mine)
        if store.check([f"{name}/{mine}"]):
            return PrefixStore(name, store)
        time.sleep(0.02)


def _is_lost(error: RuntimeError) -> bool:
    """NCCL's errors have a type; gloo raises RuntimeError, recognised by its message alone (torch 2.6 to 2.13)."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()


def _reason(error: RuntimeError) -> str:
    """`Connection reset by peer`, without the place in gloo's source code."""
    text = " ".join(str(error).split())
    found = re.search(r"connection \w+( by peer)?|broken pipe|timed out", text, re.IGNORECASE)
    return found.group() if found else text[:200]
