"""A differentiable function as two CUDA graphs for each shape it is called with: two launches instead of hundreds.

A graph works in memory of its own: inputs are copied in, results and gradients are copied out. What backward needs
stays where forward left it. If another call of the same shape has written over it in the meantime, backward runs the
forward graph once more on its own inputs and random numbers, so that calls may interleave as they like; those of
several threads take turns, and must be on one stream. A shape runs plainly the first time it comes and is captured the
second; the shape not used for longest leaves when there are too many.

Graphs may share their memory: then all shapes together take little more than the largest, but any call in between, of
whatever shape, makes backward run forward once more. That suits a function that is called once a step.
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

from regard.capture import LaunchedWarning, capturing, give_back_cached
from regard.models.fixed import settings

MOST = 96
"""Shapes a function keeps."""
WORTH = 8
"""Runs that pay for a capture; a graph that leaves before was wasted."""
IDLE = 1000
"""Calls after which a shape that has not come again makes room for others."""
PATIENCE = 16
"""So many wasted graphs, and there are more shapes than can be kept: no further one is captured."""

Given = Tensor | None
Tensors = tuple[Tensor, ...]
Forward = Callable[..., tuple[Tensors, Tensors]]
"""Inputs -> results, and what backward needs of them."""
Backward = Callable[[Sequence[Tensor], Sequence[Given], Sequence[Tensor]], Tensors]
"""Gradients of the results, inputs, what forward kept -> gradients of the inputs."""


@dataclass
class _Shape:
    """The graphs of one shape, in the memory they work in."""

    inputs: tuple[Given, ...]
    results: Tensors
    kept: Tensors
    """Held until backward is captured; what is shared is then free for the graphs of other shapes."""
    forward: Any
    pool: Any = None
    backward: Any = None
    outside: Tensors = ()
    gradients: Tensors = ()
    runs: int = 0
    """How often forward has run: whose results are in `kept`."""
    used: int = 0
    """Which call of all shapes was its last."""

    def run(self, given: Sequence[Given]) -> int:
        self.runs += 1  # at once: a run that breaks off has written, too
        _fill(self.inputs, given)
        self.forward.replay()
        return self.runs


@dataclass(frozen=True)
class Ticket:
    """Which graphs a call ran in, and which of their runs it was; no graphs: it ran plainly."""

    shape: _Shape | None = None
    run: int = 0
    random: Tensor | None = None
    """The state of the generator before it; None where nothing is drawn."""


class Replay:
    """Wraps a forward and a backward function, which launch the same work for the same shapes."""

    def __init__(self, forward: Forward, backward: Backward, *, random: bool = False, shared: bool = False) -> None:
        self._plain_forward, self._plain_backward = forward, backward
        self._random, self._shared, self._turns, self._hopeless = random, shared, 0, 0
        self.shelf = Shelf()
        self._turn = RLock()
        with _listing:
            _replays.add(self)

    def forward(self, *given: Given) -> tuple[Tensors, Tensors, Ticket]:
        """Results; what a plain run kept; and the ticket for the gradients."""
        if not _within_a_capture(given):  # which may hold what another thread, whose turn it is, waits for
            with self._turn:
                shape = self._shape(given)
                if shape is not None:
                    random = _generator(shape.results[0]).get_state() if self._random else None
                    run = self._run(shape, given)
                    return _copies(shape.results), (), Ticket(shape, run, random)
        return *self._plain_forward(*given), Ticket()

    def backward(
        self, ticket: Ticket, outside: Sequence[Tensor], given: Sequence[Given], kept: Sequence[Tensor]
    ) -> Tensors:
        """Gradients of the inputs `given` to that call, which left `kept` if it ran plainly."""
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
        """Let all graphs go."""
        with self._turn:
            self.shelf.clear()

    def _run(self, shape: _Shape, given: Sequence[Given]) -> int:
        """Forward; the number that tells whether its results are still there when backward comes."""
        self._turns += 1
        run = shape.run(given)
        return self._turns if self._shared else run

    def _again(self, shape: _Shape, given: Sequence[Given], random: Tensor | None) -> None:
        """Forward once more, with the random numbers of then."""
        with _random_as_of(random, shape.results[0]):
            self._run(shape, given)

    def _shape(self, given: tuple[Given, ...]) -> _Shape | None:
        device = _device(given)
        if device.type != "cuda":
            return None
        key = (device, settings(), *(None if x is None else (x.shape, x.dtype) for x in given))
        return self.shelf.find(key, lambda: self._captured(given, device))

    def _captured(self, given: tuple[Given, ...], device: torch.device) -> _Shape | None:
        """None where the memory is nearly full; and where the graph does not fit: then all graphs are let go.

        None, too, where the function does something that cannot be captured.
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
        """Whether that went well; where memory ends, it is the caller's to make room, as in any backward."""
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
        """Launching is slower, and not wrong; no other shape is tried."""
        said = f"a fast path could not be captured in a CUDA graph and is launched: {error}"
        warnings.warn(said, LaunchedWarning, stacklevel=4)
        self.shelf.wasted = PATIENCE

    def _pool(self) -> Any:
        """The memory that a graph will work in: a new one, or that of the graphs which are there."""
        if not self._shared:
            return None
        there = (shape.pool for shape in self.shelf.values() if shape is not None)
        return next(there, None) or torch.cuda.graph_pool_handle()

    def _has_room(self, device: torch.device) -> bool:
        """Graphs may fill the memory to three quarters; beyond, only those that nobody needs leave for a new one.

        Others do not: if the memory is another process's, one would lose all of them and capture them again and again.
        Nor is torch's cache emptied at every call: where that was in vain, it is not tried again for long.
        """
        if _roomy(device):
            return True
        if not self.shelf.drop_idle() and self.shelf.calls < self._hopeless:
            return False
        give_back_cached()
        if _roomy(device):
            return True
        self._hopeless = self.shelf.calls + IDLE
        return False


_replays: "WeakSet[Replay]" = WeakSet()
_listing = Lock()


def forget_graphs() -> None:
    """Let the graphs of all functions go, and the memory that they work in: for work that does not fit beside them."""
    with _listing:
        replays = list(_replays)
    for replay in replays:
        replay.forget()
    give_back_cached()


class Shelf(OrderedDict[object, _Shape | None]):
    """The shapes that came last, each with its graphs from the second time on, as long as that pays."""

    wasted = 0
    calls = 0

    def find(self, key: object, capture: Callable[[], _Shape | None]) -> _Shape | None:
        """The graphs of a shape; None: run it plainly."""
        seen, shape = key in self, self.get(key)
        if seen and shape is None and self.wasted < PATIENCE:
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
        """Let the shape go that was not used for longest."""
        _, shape = self.popitem(last=False)
        self.wasted += shape is not None and shape.runs < WORTH

    def drop_idle(self) -> bool:
        """Let those go that nobody has used for long; whether there were any."""
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
    """Within, the random numbers of then are drawn on the tensor's device; None: nothing is drawn."""
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
    """Copy each tensor to its place; those of one kind in one launch."""
    kinds: dict[torch.dtype, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for place, tensor in zip(places, given, strict=True):
        if place is not None and tensor is not None:
            kinds[place.dtype].append((place, tensor))
    for several in kinds.values():
        torch._foreach_copy_([place for place, _ in several], [tensor for _, tensor in several])
