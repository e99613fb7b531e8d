"""A differentiable function as two CUDA graphs for each shape it is called with: two launches instead of hundreds.

A graph works in memory of its own: inputs are copied in, results and gradients are copied out. What backward needs
stays where forward left it. If another call of the same shape has written over it in the meantime, backward runs the
forward graph once more on its own inputs and random numbers, so that calls may interleave as they like. A shape runs
plainly the first time it comes and is captured the second; the shape not used for longest leaves when there are too
many.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor

MOST = 96
"""Shapes a function keeps."""
WORTH = 8
"""Runs that pay for a capture; a graph that leaves before was wasted."""
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
    forward: Any
    backward: Any = None
    outside: Tensors = ()
    gradients: Tensors = ()
    runs: int = 0
    """How often forward has run: whose results are in `kept`."""

    def run(self, given: Sequence[Given]) -> int:
        _fill(self.inputs, given)
        self.forward.replay()
        self.runs += 1
        return self.runs


@dataclass(frozen=True)
class Ticket:
    """Which graphs a call ran in, and which of their runs it was; no graphs: it ran plainly."""

    shape: _Shape | None = None
    run: int = 0
    drawn: int | None = None
    """How many random numbers had been drawn before it; None where it draws none."""


class Replay:
    """Wraps a forward and a backward function, which launch the same work for the same shapes."""

    def __init__(self, forward: Forward, backward: Backward, *, random: bool = False) -> None:
        self._plain_forward, self._plain_backward, self._random = forward, backward, random
        self.shelf = Shelf()
        _replays.add(self)

    def forward(self, *given: Given) -> tuple[Tensors, Tensors, Ticket]:
        """Results; what a plain run kept; and the ticket for the gradients."""
        shape = self._shape(given)
        if shape is None:
            return *self._plain_forward(*given), Ticket()
        drawn = _generator(shape.results[0]).get_offset() if self._random else None
        run = shape.run(given)
        return _copies(shape.results), (), Ticket(shape, run, drawn)

    def backward(
        self, ticket: Ticket, outside: Sequence[Tensor], given: Sequence[Given], kept: Sequence[Tensor]
    ) -> Tensors:
        """Gradients of the inputs `given` to that call, which left `kept` if it ran plainly."""
        shape = ticket.shape
        if shape is None:
            return self._plain_backward(outside, given, kept)
        if shape.runs != ticket.run:
            self._again(shape, given, ticket.drawn)
        if shape.backward is None:
            shape.outside = tuple(gradient.contiguous().clone() for gradient in outside)
            shape.backward, shape.gradients = _capture(
                lambda: self._plain_backward(shape.outside, shape.inputs, shape.kept)
            )
        _fill(shape.outside, outside)
        shape.backward.replay()
        return _copies(shape.gradients)

    def _again(self, shape: _Shape, given: Sequence[Given], drawn: int | None) -> None:
        """Forward once more, with the random numbers of then."""
        if drawn is None:
            shape.run(given)
            return
        generator = _generator(shape.results[0])
        now = generator.get_offset()
        generator.set_offset(drawn)
        shape.run(given)
        generator.set_offset(now)

    def _shape(self, given: tuple[Given, ...]) -> _Shape | None:
        device = next(x.device for x in given if x is not None)
        if device.type != "cuda" or torch.cuda.is_current_stream_capturing():
            return None
        key = (device, *(None if x is None else (x.shape, x.dtype) for x in given))
        return self.shelf.find(key, lambda: self._captured(given, device))

    def _captured(self, given: tuple[Given, ...], device: torch.device) -> _Shape | None:
        """None where the graph's memory does not fit: then all graphs are let go."""
        self._make_room(device)
        try:
            inputs = tuple(None if x is None else x.contiguous().clone() for x in given)
            graph, (results, kept) = _capture(lambda: self._plain_forward(*inputs))
            return _Shape(inputs, results, kept, graph)
        except torch.OutOfMemoryError:
            self.shelf.clear()
            return None

    def _make_room(self, device: torch.device) -> None:
        """Graphs may fill the memory to three quarters; beyond, the shape not used for longest leaves."""
        while self.shelf:
            free, total = torch.cuda.mem_get_info(device)
            if free > total / 4:
                return
            self.shelf.drop()
            torch.cuda.empty_cache()


_replays: "WeakSet[Replay]" = WeakSet()


def forget_graphs() -> None:
    """Let the graphs of all functions go, and the memory that they work in: for work that does not fit beside them."""
    for replay in list(_replays):
        replay.shelf.clear()


class Shelf(OrderedDict[object, _Shape | None]):
    """The shapes that came last, each with its graphs from the second time on, as long as that pays."""

    wasted = 0

    def find(self, key: object, capture: Callable[[], _Shape | None]) -> _Shape | None:
        """The graphs of a shape; None: run it plainly."""
        seen, shape = key in self, self.get(key)
        if seen and shape is None and self.wasted < PATIENCE:
            shape = capture()
        self[key] = shape
        self.move_to_end(key)
        if len(self) > MOST:
            self.drop()
        return shape

    def drop(self) -> None:
        """Let the shape go that was not used for longest."""
        _, shape = self.popitem(last=False)
        self.wasted += shape is not None and shape.runs < WORTH


def _capture(run: Callable[[], Any]) -> tuple[Any, Any]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        results = run()
    return graph, results


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
