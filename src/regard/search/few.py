"""A few sentences on a GPU: every step of their search is the same work in the same memory, replayed from a CUDA graph.

The launches of a step take many times as long as the GPU needs for five rows. So tokens, state, scores and all that is
chosen have fixed places; a step reads and writes them, and from the second time on it is one launch. Nothing leaves
these places before the end: a sentence that is done waits for the others, which is why they must be few. The host looks
at each step while the next one runs, so that at most one is run in vain.

The graphs are kept for each model, as its `fixed` knows it, and for each shape: sentences padded to few lengths have
few of them.
"""

import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.capture import LaunchedWarning, capturing
from regard.search.options import Options
from regard.search.protocol import Fixed, State, Stepper
from regard.search.slots import Moment, Slots, choose
from regard.search.trail import Trail

FEW = 8
"""The most sentences that are searched here."""
ROWS = 4096
"""The most rows of attention that are kept for them."""
SHAPES = 24
"""Shapes that are kept for a model; the one not used for longest leaves."""

Found = tuple[list[Moment], Trail]


def few_search(
    stepper: Stepper,
    state: State,
    limits: Int[Tensor, " sentence"],
    longest: Int[np.ndarray, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
) -> Found | None:
    """What the steps from `state` on chose; None: this search must go the other way."""
    steps = max(32, 1 << (int(longest.max(initial=0)) - 1).bit_length())
    sentences = len(longest)
    if not (0 < sentences <= FEW and steps * sentences * beam <= ROWS and int(longest.min()) > 0):
        return None
    fixed = stepper.fixed(state) if isinstance(stepper, Fixed) else None
    if fixed is None:
        return None
    rows = torch.arange(sentences, device=limits.device)[:, None].expand(-1, beam).reshape(-1)
    state, slots = state.select(rows), Slots.begin(limits, longest.tolist(), options, nbest)
    slots = replace(slots, score=torch.nn.functional.pad(slots.score, (0, beam - 1), value=-torch.inf))
    key = (
        fixed, beam, nbest, steps, replace(options, penalty=Options().penalty), torch.is_inference_mode_enabled(),
        tuple((x.shape, x.dtype, x.device) for x in leaves(state)),
    )  # fmt: skip
    with _finding:
        table = _rounds.setdefault(stepper, OrderedDict())
        found = table.get(key)
        if found is None:
            found = table[key] = Round(state, slots, beam, options, steps)
            if len(table) > SHAPES:
                table.popitem(last=False)
        table.move_to_end(key)
    if not found.busy.acquire(blocking=False):  # another thread is at work in these places
        return None
    try:
        with torch.cuda.device_of(limits):  # type: ignore[no-untyped-call]
            return found.search(stepper, state, slots, options, longest)
    finally:
        found.busy.release()


class Round:
    """The places that a step reads and writes, and the graph of that step."""

    def __init__(self, state: State, slots: Slots, beam: int, options: Options, steps: int) -> None:
        self.busy = Lock()
        self.graph: Any = None
        self._beam, self._options, self._steps, self._runs = beam, options, steps, 0
        sentences, device = len(slots.limit), slots.limit.device
        self._cuda = device.type == "cuda"
        self._places = [leaf.clone() for leaf in leaves(state)]
        self._state: State = rebuilt(state, iter(self._places))
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
        """From this state on, until nothing lives."""
        fill(self._places, leaves(state))
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
        """One step; the first launches its operations one by one, and what they need to be compiled is then there."""
        if self._cuda and self._runs == 1:
            self.graph = self._recorded(stepper)
        if self.graph is None:
            self._step(stepper)
        else:
            self.graph.replay()
        self._runs += 1

    def _recorded(self, stepper: Stepper) -> Any:
        graph = torch.cuda.CUDAGraph()
        try:
            with capturing(graph):
                self._step(stepper)
        except torch.OutOfMemoryError:  # slower, and not wrong
            return None
        except RuntimeError as error:  # an operation that cannot be recorded
            said = f"a step of search could not be recorded and is launched: {error}"
            warnings.warn(said, LaunchedWarning, stacklevel=2)
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
        fill(self._places, leaves(step.state.select(rows)))
        fill(self._slots.tensors, slots.tensors)
        self._tokens.copy_(choice.token.flatten())
        self._lives.copy_(slots.living.any(), non_blocking=True)
        self._length += 1

    def _goes_on(self, number: int) -> bool:
        """Whether anything lived after the step before this one, or after this one if the device is so far already."""
        if not self._cuda:
            return bool(self._lives)
        self._marks[number % 2].record()
        if number == 0:
            return True
        self._marks[(number - 1) % 2].synchronize()
        return bool(self._lives)

    def _read(self, steps: int) -> Found:
        """Copies, for the next search may begin in these places before anybody looks at what this one found."""
        arrays = [kept[:steps].to("cpu", copy=True).numpy() for kept in self._history]
        width, sentences = self._beam, len(self._slots.limit)
        rows, trail = sentences * width, Trail()
        trail.add(None if self._weights is None else self._weights[:steps].flatten(0, 1).clone(), steps * rows)
        everybody = np.arange(sentences)
        moments = [
            Moment(everybody, number * rows, width, *(each[number] for each in arrays)) for number in range(steps)
        ]
        return moments, trail


_rounds: "WeakKeyDictionary[Any, OrderedDict[object, Round]]" = WeakKeyDictionary()
_finding = Lock()


def leaves(state: object) -> list[Tensor]:
    """The tensors of a state, which is made of dataclasses and tuples."""
    if isinstance(state, Tensor):
        return [state]
    if is_dataclass(state):
        return [leaf for field in fields(state) for leaf in leaves(getattr(state, field.name))]
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else []


def rebuilt(state: Any, places: Iterator[Tensor]) -> Any:
    """The same state on other tensors, in the order of `leaves`."""
    if isinstance(state, Tensor):
        return next(places)
    if is_dataclass(state) and not isinstance(state, type):
        return replace(state, **{field.name: rebuilt(getattr(state, field.name), places) for field in fields(state)})
    return tuple(rebuilt(part, places) for part in state) if isinstance(state, tuple) else state


def fill(places: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
    for place, tensor in zip(places, tensors, strict=True):
        if place is not tensor:
            place.copy_(tensor)
