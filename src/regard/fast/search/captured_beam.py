"""Search of a few sentences on a GPU, every step replayed from one CUDA graph.

The launches of a step take many times as long as the GPU needs for five rows. So tokens, state, scores and choices have
fixed buffers; a step reads and writes them, and from the second time on it is one launch. Nothing leaves the buffers
before the end: a sentence that is done waits for the others, which is why there must be few. The host checks each step
while the next one runs, so at most one step is wasted.

Graphs are kept for each model, as `step_key` identifies it, and for each shape: sentences padded to few lengths have
few of them.
"""

import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.fast.graphs.capture import LaunchedWarning, capturing
from regard.fast.search.beam_slots import HostStep, Slots, choose
from regard.fast.search.device_beam import LOOK, Found, search_from
from regard.fast.search.shared_memory import SharedMemory
from regard.fast.search.step_identity import step_key
from regard.registry import Refusal, operation_of, replaces
from regard.search.ensemble import Ensemble
from regard.search.search_options import Options
from regard.search.stepper import State, Stepper
from regard.search.trail import Trail

FEW = 8
"""The most sentences that are searched here."""
ROWS = 4096
"""The most rows of attention that are kept for them."""
SHAPES = 24
"""Shapes that are kept for a model; the least recently used one is dropped."""


def _unfit(
    stepper: Stepper,
    state: State,
    limits: Tensor,
    longest: Int[np.ndarray, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int = LOOK,
) -> Refusal:
    if not limits.is_cuda:
        return "CUDA graphs need a CUDA device"
    return _unfit_sizes(longest, beam) or (None if step_key(stepper) is not None else "steps are not alike")


def _unfit_sizes(longest: Int[np.ndarray, " sentence"], beam: int) -> Refusal:
    sentences = len(longest)
    if not 0 < sentences <= FEW:
        return f"not between 1 and {FEW} sentences"
    if _steps(longest) * sentences * beam > ROWS:
        return f"more than {ROWS} rows of attention"
    return None if int(longest.min()) > 0 else "a sentence may have no words"


def _steps(longest: Int[np.ndarray, " sentence"]) -> int:
    return max(32, 1 << (int(longest.max(initial=0)) - 1).bit_length())


def _bypassed(stepper: Stepper, *_: object, **__: object) -> Iterable[object]:
    return stepper.members if isinstance(stepper, Ensemble) else (stepper,)


@replaces(search_from, unless=_unfit, bypasses=_bypassed)
def captured_search(
    stepper: Stepper,
    state: State,
    limits: Int[Tensor, " sentence"],
    longest: Int[np.ndarray, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int = LOOK,
) -> Found:
    """The same from a captured step; if another thread is using its buffers, the plain loop runs."""
    start = state
    rows = torch.arange(len(longest), device=limits.device)[:, None].expand(-1, beam).reshape(-1)
    state, slots = state.select(rows), Slots.begin(limits, longest.tolist(), options, nbest)
    slots = replace(slots, score=torch.nn.functional.pad(slots.score, (0, beam - 1), value=-torch.inf))
    found = _find(stepper, state, slots, beam, options, _steps(longest))
    if not found.busy.acquire(blocking=False):
        result: Found = operation_of(search_from).plain(stepper, start, limits, longest, beam, nbest, options, every)
        return result
    try:
        with torch.cuda.device_of(limits):  # type: ignore[no-untyped-call]
            return found.search(stepper, state, slots, options, longest)
    finally:
        found.busy.release()


def _find(stepper: Stepper, state: State, slots: Slots, beam: int, options: Options, steps: int) -> "CapturedSearch":
    key = (
        step_key(stepper), beam, slots.merits.shape[1], steps, replace(options, penalty=Options().penalty),
        torch.is_inference_mode_enabled(), tuple((x.shape, x.dtype, x.device) for x in leaves(state)),
    )  # fmt: skip
    with _finding:
        table = _searches.setdefault(stepper, OrderedDict())
        found = table.get(key)
        if found is None:
            found = table[key] = CapturedSearch(state, slots, beam, options, steps)
            if len(table) > SHAPES:
                table.popitem(last=False)
        table.move_to_end(key)
    return found


class CapturedSearch:
    """The buffers that a step reads and writes, and the graph of that step."""

    def __init__(self, state: State, slots: Slots, beam: int, options: Options, steps: int) -> None:
        self.busy = Lock()
        self.graph: Any = None
        self._beam, self._options, self._steps, self._runs = beam, options, steps, 0
        sentences, device = len(slots.limit), slots.limit.device
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
        self, stepper: Stepper, state: State, slots: Slots, options: Options, longest: Int[np.ndarray, " sentence"]
    ) -> Found:
        """Search from this state until no hypothesis is alive."""
        fill(self._buffers, leaves(state))
        fill(self._slots.tensors, slots.tensors)
        divisors = [options.penalty.divisor(length) for length in range(self._steps + 1)]
        self._divisors.copy_(torch.tensor(divisors, dtype=torch.float64))
        self._tokens.fill_(options.bos)
        self._length.fill_(1)
        self._lives.fill_(True)
        steps = int(longest.max())
        for number in range(steps):
            self._advance(stepper)
            if not self._goes_on(number):
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
        choice, slots = choose(step.logits, self._slots, self._length, divisor, self._beam, self._options)
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

    def _goes_on(self, number: int) -> bool:
        """Whether a hypothesis was alive after the previous step, or after this one if the device has finished it."""
        if not self._cuda:
            return bool(self._lives)
        self._marks[number % 2].record()
        if number == 0:
            return True
        self._marks[(number - 1) % 2].synchronize()
        return bool(self._lives)

    def _read(self, steps: int) -> Found:
        """Copies: the next search may overwrite these buffers before the caller reads the result."""
        arrays = [kept[:steps].to("cpu", copy=True).numpy() for kept in self._history]
        width, sentences = self._beam, len(self._slots.limit)
        rows, trail = sentences * width, Trail()
        trail.add(None if self._weights is None else self._weights[:steps].flatten(0, 1).clone(), steps * rows)
        everybody = np.arange(sentences)
        found = [
            HostStep(everybody, number * rows, width, *(each[number] for each in arrays)) for number in range(steps)
        ]
        return found, trail


_searches: "WeakKeyDictionary[Any, OrderedDict[object, CapturedSearch]]" = WeakKeyDictionary()
_finding = Lock()


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
