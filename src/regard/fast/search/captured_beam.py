"""A search step on fixed buffers, which a GPU replays from one CUDA graph.

The launches of a step take many times as long as the GPU needs for five rows. So tokens, state, scores and choices have
fixed buffers; a step reads and writes them, and from the second time on it is one launch. Nothing leaves the buffers
before the end. The host checks each step while the next one runs, so at most one step is wasted.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from regard.fast.graphs.capture import LaunchedWarning, capturing
from regard.fast.search.beam_slots import Slots, choose
from regard.fast.search.shared_memory import SharedMemory
from regard.search.host_choices import HostChoices
from regard.search.hypothesis import Trail
from regard.search.search_options import Options
from regard.search.stepper import State, Stepper


class CapturedSearch:
    """The buffers that a step reads and writes, and the graph of that step."""

    def __init__(self, state: State, slots: Slots, options: Options, steps: int) -> None:
        self.busy = Lock()
        self.graph: Any = None
        self._options, self._steps, self._runs = options, steps, 0
        (sentences, beam), device = slots.score.shape, slots.limit.device
        self._cuda = device.type == "cuda"
        self._buffers = [leaf.clone() for leaf in leaves(state)]
        self._state: State = rebuilt(state, iter(self._buffers))
        self._slots = Slots(*(one.clone() for one in slots.tensors))
        self._tokens = torch.zeros(sentences * beam, dtype=torch.long, device=device)
        self._before = torch.arange(sentences, device=device)[:, None] * beam
        self._divisors = torch.ones(steps + 1, dtype=torch.float64, device=device)
        self._length = torch.ones(1, dtype=torch.long, device=device)
        self._history: tuple[Tensor, ...] = ()
        self._weights: Tensor | None = None
        self._lives = torch.ones((), dtype=torch.bool, pin_memory=self._cuda)
        self._marks = [torch.cuda.Event(), torch.cuda.Event()] if self._cuda else []  # type: ignore[no-untyped-call]

    def search(
        self, stepper: Stepper, state: State, slots: Slots, options: Options, steps: int
    ) -> tuple[HostChoices, Trail]:
        """Search from this state until no hypothesis is alive."""
        fill(self._buffers, leaves(state))
        fill(self._slots.tensors, slots.tensors)
        divisors = [options.penalty.divisor(length) for length in range(self._steps + 1)]
        self._divisors.copy_(torch.tensor(divisors, dtype=torch.float64))
        self._tokens.fill_(options.bos)
        self._length.fill_(1)
        self._lives.fill_(True)
        for number in range(steps):
            self._advance(stepper)
            if not self._continues(number):
                steps = number + 1
                break
        return self._read(steps)

    def _advance(self, stepper: Stepper) -> None:
        """One step; the first launches its operations one by one, which also compiles their kernels."""
        if self._cuda and self._runs == 1:
            self.graph = self._captured(stepper)
        if self.graph is None:
            self._step(stepper)
        else:
            self.graph.replay()
        self._runs += 1

    def _captured(self, stepper: Stepper) -> Any:
        graph = torch.cuda.CUDAGraph()
        try:
            with capturing(graph):
                self._step(stepper)
        except torch.OutOfMemoryError:  # slower, and not wrong
            return None
        except RuntimeError as error:  # an operation that cannot be captured
            message = f"a search step could not be captured in a CUDA graph and is launched instead: {error}"
            warnings.warn(message, LaunchedWarning, stacklevel=2)
            return None
        return graph

    def _step(self, stepper: Stepper) -> None:
        step = stepper.step(self._tokens, self._state)
        divisor = self._divisors.index_select(0, self._length)
        choice, slots = choose(step.logits, self._slots, self._length, divisor, self._options)
        if not self._history:
            self._history = tuple(one.new_zeros(self._steps, *one.shape) for one in choice.tensors)
            if step.weights is not None and self._options.weights:
                self._weights = step.weights.new_zeros(self._steps, *step.weights.shape)
        place = self._length - 1
        for kept, one in zip(self._history, choice.tensors, strict=True):
            kept.index_copy_(0, place, one[None])
        if self._weights is not None and step.weights is not None:
            self._weights.index_copy_(0, place, step.weights[None])
        rows = (self._before + choice.parent).flatten()
        fill(self._buffers, leaves(step.state.select(rows)))
        fill(self._slots.tensors, slots.tensors)
        self._tokens.copy_(choice.token.flatten())
        self._lives.copy_(slots.living.any(), non_blocking=True)
        self._length += 1

    def _continues(self, number: int) -> bool:
        """Whether a hypothesis was alive after the previous step, or after this one if the device has finished it."""
        if not self._cuda:
            return bool(self._lives)
        self._marks[number % 2].record()
        if number == 0:
            return True
        self._marks[(number - 1) % 2].synchronize()
        return bool(self._lives)

    def _read(self, steps: int) -> tuple[HostChoices, Trail]:
        """Copies: the next search may overwrite these buffers before the caller reads the result."""
        arrays = [kept[:steps].to("cpu", copy=True).numpy() for kept in self._history]
        trail = Trail()
        weights = None if self._weights is None else self._weights[:steps].flatten(0, 1).clone()
        trail.add(weights, steps * len(self._tokens))
        return HostChoices(*arrays), trail


def leaves(state: object) -> list[Tensor]:
    """The tensors of a state, which is made of dataclasses and tuples."""
    if isinstance(state, Tensor):
        return [state]
    if isinstance(state, SharedMemory):
        return state.tensors()
    if is_dataclass(state):
        return [leaf for field in fields(state) for leaf in leaves(getattr(state, field.name))]
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else []


def rebuilt(state: Any, buffers: Iterator[Tensor]) -> Any:
    """The same state on other tensors, in the order of `leaves`."""
    if isinstance(state, Tensor):
        return next(buffers)
    if isinstance(state, SharedMemory):
        return state.with_tensors(buffers)
    if is_dataclass(state) and not isinstance(state, type):
        return replace(state, **{field.name: rebuilt(getattr(state, field.name), buffers) for field in fields(state)})
    return tuple(rebuilt(part, buffers) for part in state) if isinstance(state, tuple) else state


def fill(buffers: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
    for buffer, tensor in zip(buffers, tensors, strict=True):
        if buffer is not tensor:
            buffer.copy_(tensor)
