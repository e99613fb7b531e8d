"""Several workers train one model: the only file that knows torch.distributed.

`torchrun` starts the workers and tells each its number. All of them go through the same steps with the same weights;
each computes its share of the rows of every batch, the gradients are added up, and one of them writes.
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

from regard.text.errors import InputError

PATIENCE = timedelta(hours=1)
"""How long a worker waits for another that is alive: reading data or saving takes one longer than the others."""

Value = TypeVar("Value")


class WorkerLost(RuntimeError):
    """Another worker is gone, and without it no step can be taken."""


class Elsewhere(RuntimeError):
    """Another worker has said what is wrong."""


@dataclass(frozen=True)
class World:
    """This worker among all of them. One process alone is a world of one, where nothing is ever sent."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """This worker among those of its machine, of which there are `local_size`."""
    local_size: int = 1

    @property
    def writer(self) -> bool:
        """One worker writes files, and speaks."""
        return self.rank == 0

    @property
    def name(self) -> str:
        return f"worker {self.rank} of {self.size} on {socket.gethostname()}"

    def gather(self, value: Value) -> list[Value]:
        """Everybody's value, in the order of their ranks."""
        found: list[Any] = [value] * self.size
        if self.size > 1:
            distributed.all_gather_object(found, value)
        return found

    def tell(self, value: Value) -> Value:
        """The writer's value, to everybody."""
        if self.size == 1:
            return value
        found: list[Any] = [value]
        distributed.broadcast_object_list(found)
        told: Value = found[0]
        return told

    def total(self, number: float) -> float:
        """The sum over all workers."""
        if self.size == 1:
            return number
        numbers = torch.tensor([number], dtype=torch.float64)
        distributed.all_reduce(numbers)
        return float(numbers)

    def any(self, flag: bool) -> bool:
        """Whether it is so for at least one worker."""
        return flag if self.size == 1 else self.total(float(flag)) > 0

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is wrong with the user's input ends all workers at the end of the block, and is said by one of them.

        Nothing inside may be sent: a worker whose input is wrong is no longer there.
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
            raise Elsewhere(f"worker {first} of {self.size} said what is wrong")

    def vary(self, seed: int, step: int) -> None:
        """Seed a step for this worker: dropout differs between workers, and is the same again after a resume."""
        if self.size > 1:
            digest = hashlib.sha256(f"{seed} {step} {self.rank}".encode()).digest()
            torch.manual_seed(int.from_bytes(digest[:8]) >> 1)

    @property
    def launch(self) -> str | None:
        """What stays the same when torchrun starts its workers again; None where it will not, or nobody can tell."""
        name = os.environ.get("TORCHELASTIC_RUN_ID")
        return None if name == "none" else name

    def connect(self) -> None:
        """Wait until all workers can hear each other.

        What they say lies in main memory, which is gloo's part; gradients on a GPU have a group of their own.
        """
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
            distributed.init_process_group("gloo", timeout=PATIENCE)
            return
        from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # not in every build of torch

        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = TCPStore(address, port, is_master=False, timeout=PATIENCE)
        distributed.init_process_group(
            "gloo",
            store=_unwritten(PrefixStore("regard", store), self.rank, self.size),
            rank=self.rank,
            world_size=self.size,
            timeout=PATIENCE,
        )


def find_world() -> World:
    """What torchrun says about this process; a world of one where it does not say anything."""
    said = os.environ
    if not {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= said.keys():
        return World()
    local_rank, local_size = int(said.get("LOCAL_RANK", 0)), int(said.get("LOCAL_WORLD_SIZE", 1))
    return World(int(said["RANK"]), int(said["WORLD_SIZE"]), local_rank, local_size)


@contextmanager
def join() -> Iterator[World]:
    """This process among the workers that torchrun started, connected for the length of the block."""
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
            f"{world.name} lost another one, so the run ends here ({_reason(error)}): "
            "go on from its last checkpoint with --resume, with as many workers as you like"
        ) from error
    distributed.destroy_process_group()


class Replica:
    """This worker's copy of the model; backward passes of all copies add up, once for each step."""

    def __init__(self, world: World, model: nn.Module | None = None, unused: bool = False) -> None:
        """`unused`: some parameters get no gradient, which the others must not wait for."""
        self.world = world
        self.parallel: DistributedDataParallel | None = None
        if world.size > 1 and model is not None:
            cuda = next(model.parameters()).is_cuda
            self.parallel = DistributedDataParallel(
                _Whole(model),
                process_group=distributed.new_group(backend="nccl", timeout=PATIENCE) if cuda else None,
                find_unused_parameters=unused,
            )

    @property
    def size(self) -> int:
        return 1 if self.parallel is None else self.world.size

    def adding(self, last: bool) -> Any:
        """Around a forward and backward pass: only the `last` one of a step waits for the other workers."""
        return nullcontext() if self.parallel is None or last else self.parallel.no_sync()

    def __call__(self, compute: Callable[[], Value]) -> Value:
        """The result of `compute`, a forward pass of the model; its backward pass takes the mean over workers."""
        result: Value = compute() if self.parallel is None else self.parallel(compute)
        return result


ALONE = Replica(World())


class _Whole(nn.Module):
    """The model with everything that is computed from its parameters."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, compute: Callable[[], Value]) -> Value:
        return compute()


def _unwritten(store: Any, rank: int, size: int) -> Any:
    """A part of torchrun's store that only this round of workers writes to.

    The store outlives its workers, and still holds the addresses of those that are gone. Worker 0 names the round;
    another one believes the name once somebody has answered to it.
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
    """Errors of the network have a class of their own only on a GPU."""
    return isinstance(error, distributed.DistError) or "gloo" in str(error).lower()


def _reason(error: RuntimeError) -> str:
    """`Connection reset by peer`, without where in gloo's source that was noticed."""
    text = " ".join(str(error).split())
    found = re.search(r"connection \w+( by peer)?|broken pipe|timed out", text, re.IGNORECASE)
    return found.group() if found else text[:200]
