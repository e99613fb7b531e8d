"""A differentiable function as two CUDA graphs for each input shape: two launches instead of hundreds.

A graph works in its own memory: inputs are copied in, results and gradients are copied out. The tensors that backward
needs stay where forward left them. If another call of the same shape has overwritten them, backward first replays the
forward graph on its own inputs and random state, so calls may interleave; calls from several threads are serialised and
must use one stream. A shape runs plainly at its first call and is captured at the second; the least recently used shape
is dropped when there are too many.

Graphs may share their memory (`shared`): then all shapes together take little more than the largest, but any call in
between, of any shape, makes backward replay forward. That suits a function that is called once a step.
"""

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor

from regard.fast.graphs.capture import LaunchedWarning, capturing, empty_cache
from regard.fast.graphs.fingerprint import settings
from regard.registry import Refusal, release_memory, replaces
from regard.torch_private import copy_all

MOST = 96
"""Shapes a function keeps."""
PAID_OFF = 8
"""Runs after which a capture has paid off; a graph dropped earlier counts as wasted."""
IDLE = 1000
"""Calls after which an unused shape may be dropped for others."""
MOST_WASTED = 16
"""After this many wasted graphs no further shape is captured: there are more shapes than can be kept."""

Given = Tensor | None
Tensors = tuple[Tensor, ...]
Forward = Callable[..., tuple[Tensors, Tensors]]
"""Inputs -> results, and what backward needs of them."""
Backward = Callable[[Sequence[Tensor], Sequence[Given], Sequence[Tensor]], Tensors]
"""Gradients of the results, inputs, what forward kept -> gradients of the inputs."""


@dataclass
class _Shape:
    """The graphs of one shape and their buffers."""

    inputs: tuple[Given, ...]
    results: Tensors
    kept: Tensors
    """Held until backward is captured; shared memory is then free for the graphs of other shapes."""
    forward: Any
    pool: Any = None
    backward: Any = None
    outside: Tensors = ()
    gradients: Tensors = ()
    runs: int = 0
    """How often forward has run: identifies the run whose results are in `kept`."""
    used: int = 0
    """The number of its last call, counted over all shapes."""

    def run(self, given: Sequence[Given]) -> int:
        self.runs += 1  # first: a failed run may have overwritten the buffers, too
        _fill(self.inputs, given)
        self.forward.replay()
        return self.runs


@dataclass(frozen=True)
class ReplayTicket:
    """Identifies the graphs and the run of a call; without graphs it ran plainly."""

    shape: _Shape | None = None
    run: int = 0
    random: Tensor | None = None
    """The random generator's state before the run; None if nothing is drawn."""


class Replay:
    """Wraps a forward and a backward function that launch the same work for the same shapes."""

    def __init__(self, forward: Forward, backward: Backward, *, random: bool = False, shared: bool = False) -> None:
        self._plain_forward, self._plain_backward = forward, backward
        self._random, self._shared, self._turns, self._retry_at = random, shared, 0, 0
        self.shelf = GraphCache()
        self._turn = RLock()
        with _listing:
            _replays.add(self)

    def forward(self, *given: Given) -> tuple[Tensors, Tensors, ReplayTicket]:
        """Results, the tensors that a plain run kept, and the ticket for backward."""
        # A capture in this thread may hold a lock that the thread in `_turn` waits for.
        if not _within_a_capture(given):
            with self._turn:
                shape = self._shape(given)
                if shape is not None:
                    random = _generator(shape.results[0]).get_state() if self._random else None
                    run = self._run(shape, given)
                    return _copies(shape.results), (), ReplayTicket(shape, run, random)
        return *self._plain_forward(*given), ReplayTicket()

    def backward(
        self, ticket: ReplayTicket, outside: Sequence[Tensor], given: Sequence[Given], kept: Sequence[Tensor]
    ) -> Tensors:
        """Gradients of the inputs `given` to that call; `kept` is what it kept if it ran plainly."""
        shape = ticket.shape
        if shape is None:
            return self._plain_backward(outside, given, kept)
        with self._turn:
            if (self._turns if self._shared else shape.runs) != ticket.run:
                self._again(shape, given, ticket.random)
            if shape.backward is None and not self._captured_backward(shape, outside):
                with _random_as_of(ticket.random, outside[0]):
                    _, kept = self._plain_forward(*given)
                return self._plain_backward(outside, given, kept)
            _fill(shape.outside, outside)
            shape.backward.replay()
            return _copies(shape.gradients)

    def forget(self) -> None:
        """Drop all graphs."""
        with self._turn:
            self.shelf.clear()

    def _run(self, shape: _Shape, given: Sequence[Given]) -> int:
        """Runs forward; the returned number shows backward whether the results are still in the buffers."""
        self._turns += 1
        run = shape.run(given)
        return self._turns if self._shared else run

    def _again(self, shape: _Shape, given: Sequence[Given], random: Tensor | None) -> None:
        """Runs forward again with the random state of the first run."""
        with _random_as_of(random, shape.results[0]):
            self._run(shape, given)

    def _shape(self, given: tuple[Given, ...]) -> _Shape | None:
        device = _device(given)
        if device.type != "cuda":
            return None
        key = (device, settings(), *(None if x is None else (x.shape, x.dtype) for x in given))
        return self.shelf.find(key, lambda: self._captured(given, device))

    def _captured(self, given: tuple[Given, ...], device: torch.device) -> _Shape | None:
        """The captured graphs; None if memory is nearly full, capturing fails, or the graph does not fit.

        In the last case all graphs are dropped.
        """
        if not self._has_room(device):
            return None
        try:
            inputs = tuple(None if x is None else x.contiguous().clone() for x in given)
            pool = self._pool()
            graph, (results, kept) = _capture(lambda: self._plain_forward(*inputs), pool)
            return _Shape(inputs, results, kept, graph, pool)
        except torch.OutOfMemoryError:
            self.shelf.clear()
        except RuntimeError as error:
            self._give_up(error)
        return None

    def _captured_backward(self, shape: _Shape, outside: Sequence[Tensor]) -> bool:
        """Whether the capture succeeded; an out-of-memory error is the caller's to handle, as in any backward."""
        shape.outside = tuple(gradient.contiguous().clone() for gradient in outside)
        try:
            shape.backward, shape.gradients = _capture(
                lambda: self._plain_backward(shape.outside, shape.inputs, shape.kept), shape.pool
            )
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self._give_up(error)
            self.shelf.clear()
            return False
        shape.kept = () if self._shared else shape.kept
        return True

    def _give_up(self, error: RuntimeError) -> None:
        """Warns that from now on the function runs without graphs, and captures no other shape."""
        message = f"an accelerated function could not be captured in a CUDA graph and is launched instead: {error}"
        warnings.warn(message, LaunchedWarning, stacklevel=4)
        self.shelf.wasted = MOST_WASTED

    def _pool(self) -> Any:
        """The memory pool of a new graph: its own, or the one that the existing graphs share."""
        if not self._shared:
            return None
        there = (shape.pool for shape in self.shelf.values() if shape is not None)
        return next(there, None) or torch.cuda.graph_pool_handle()

    def _has_room(self, device: torch.device) -> bool:
        """Graphs may fill three quarters of the memory; beyond that a new graph displaces idle ones only.

        If another process fills the memory, dropping active graphs would lose all of them and capture them again and
        again. Emptying torch's cache is not retried for `IDLE` calls after it freed too little.
        """
        if _roomy(device):
            return True
        if not self.shelf.drop_idle() and self.shelf.calls < self._retry_at:
            return False
        empty_cache()
        if _roomy(device):
            return True
        self._retry_at = self.shelf.calls + IDLE
        return False


_replays: "WeakSet[Replay]" = WeakSet()
_listing = Lock()


def _unfit() -> Refusal:
    return None


@replaces(release_memory, unless=_unfit)
def forget_graphs() -> None:
    """Drops the graphs of all functions and their memory."""
    with _listing:
        replays = list(_replays)
    for replay in replays:
        replay.forget()
    empty_cache()


class GraphCache(OrderedDict[object, _Shape | None]):
    """LRU cache of shapes.

    A shape is captured at its second call, unless a capture failed or MOST_WASTED graphs were dropped before they had
    paid off.
    """

    wasted = 0
    calls = 0

    def find(self, key: object, capture: Callable[[], _Shape | None]) -> _Shape | None:
        """The graphs of a shape; None: run it plainly."""
        seen, shape = key in self, self.get(key)
        if seen and shape is None and self.wasted < MOST_WASTED:
            shape = capture()
        self[key] = shape
        self.move_to_end(key)
        self.calls += 1
        if shape is not None:
            shape.used = self.calls
        if len(self) > MOST:
            self.drop()
        return shape

    def drop(self) -> None:
        """Drops the least recently used shape."""
        _, shape = self.popitem(last=False)
        self.wasted += shape is not None and shape.runs < PAID_OFF

    def drop_idle(self) -> bool:
        """Drops shapes unused for `IDLE` calls; returns whether there were any."""
        idle = [key for key, shape in self.items() if shape is not None and self.calls - shape.used >= IDLE]
        for key in idle:
            del self[key]
        return bool(idle)


def _device(given: Sequence[Given]) -> torch.device:
    return next(x.device for x in given if x is not None)


def _roomy(device: torch.device) -> bool:
    free, total = torch.cuda.mem_get_info(device)
    return free > total / 4


def _within_a_capture(given: Sequence[Given]) -> bool:
    return _device(given).type == "cuda" and torch.cuda.is_current_stream_capturing()


def _capture(run: Callable[[], Any], pool: Any = None) -> tuple[Any, Any]:
    """The graph of what `run` launches, and what it returns."""
    graph = torch.cuda.CUDAGraph()
    with capturing(graph, pool):
        return graph, run()


@contextmanager
def _random_as_of(then: Tensor | None, tensor: Tensor) -> Iterator[None]:
    """While the block runs, the tensor's device draws from this generator state; None: nothing is drawn."""
    if then is None:
        yield
        return
    generator = _generator(tensor)
    now = generator.get_state()
    generator.set_state(then)
    try:
        yield
    finally:
        generator.set_state(now)


def _generator(tensor: Tensor) -> torch.Generator:
    return torch.cuda.default_generators[tensor.device.index]


def _copies(tensors: Tensors) -> Tensors:
    copies = tuple(torch.empty_like(tensor) for tensor in tensors)
    _fill(copies, tensors)
    return copies


def _fill(places: Sequence[Given], given: Sequence[Given]) -> None:
    """Copies each tensor into its buffer; those of one dtype in one launch."""
    kinds: dict[torch.dtype, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for place, tensor in zip(places, given, strict=True):
        if place is not None and tensor is not None:
            kinds[place.dtype].append((place, tensor))
    for several in kinds.values():
        copy_all([place for place, _ in several], [tensor for _, tensor in several])
