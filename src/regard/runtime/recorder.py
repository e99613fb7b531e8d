"""Records what a model computes at each step of a search: top words, entropy, and the tensors of its attention."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.step import Step
from regard.search import State
from regard.search.scoring import log_probabilities, top


class Abandoned(Exception):
    """The result of this search is no longer needed."""


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """The tensors that one layer's attention used in one step, for one row; `scores` are raw."""

    query: Float[Tensor, " query"]
    scores: Float[Tensor, "head source"]
    mask: Bool[Tensor, "head source"]
    weights: Float[Tensor, "head source"]
    context: Float[Tensor, " value"] | None
    gaussian: Float[Tensor, " source"] | None
    center: float | None


@dataclass(frozen=True, eq=False)
class StepRecord:
    """One step of one hypothesis."""

    top: tuple[tuple[int, float], ...]
    """(id, probability) of the most probable tokens, best first."""
    entropy: float | None
    """Entropy of the distribution over the vocabulary, in nats; None if it was not requested."""
    layers: tuple[LayerTrace, ...]
    """Empty without attention, and where no trace was requested."""


@dataclass(frozen=True)
class RecordedState:
    """The state of the model, and what was read to reach it: one entry for each row."""

    inner: Any
    sentences: tuple[int, ...]
    read: tuple[tuple[int, ...], ...]

    def select(self, rows: Int[Tensor, " rows"]) -> "RecordedState":
        chosen = rows.tolist()
        return RecordedState(
            self.inner.select(rows),
            tuple(self.sentences[row] for row in chosen),
            tuple(self.read[row] for row in chosen),
        )


@dataclass(frozen=True)
class RecordedStep:
    """A step as search reads it."""

    logits: Float[Tensor, "rows vocabulary"]
    state: State
    weights: Float[Tensor, "rows layer head source"] | None


@dataclass(frozen=True, eq=False)
class _Kept:
    step: Any
    ids: Int[np.ndarray, "rows top"] | None
    probabilities: Float[np.ndarray, "rows top"] | None
    entropies: Float[np.ndarray, " rows"] | None


class Recorder:
    """A Stepper around a model, with the same results; use one for each search.

    `top` tokens are kept for each step, and with `trace` the tensors of the attention. `edits` replaces the attention
    of a step (0-based), in every row. `abandoned` is called before every step: True ends the search.
    """

    def __init__(
        self,
        stepper: Any,
        *,
        top: int = 0,
        trace: bool = False,
        edits: Mapping[int, Float[Tensor, "layer head source"]] | None = None,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stepper, self._top, self._trace = stepper, top, trace
        self._edits, self._abandoned = dict(edits or {}), abandoned
        self._kept: list[_Kept] = []
        self._places: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}

    def start(self, source: Any) -> RecordedState:
        rows = len(source.source_lengths)
        return RecordedState(self._stepper.start(source), tuple(range(rows)), ((),) * rows)

    def step(self, tokens: Int[Tensor, " rows"], state: RecordedState) -> RecordedStep:
        if self._abandoned():
            raise Abandoned
        position = len(state.read[0])
        given: dict[str, Any] = {"trace": True} if self._trace else {}
        if position in self._edits:
            given["weights"] = self._edits[position].expand(len(tokens), -1, -1, -1)
        step: Step = self._stepper.step(tokens, state.inner, **given)
        read = tuple((*before, token) for before, token in zip(state.read, tokens.tolist(), strict=True))
        if self._top or self._trace:
            for row, key in enumerate(zip(state.sentences, read, strict=True)):
                self._places.setdefault(key, (len(self._kept), row))
            self._kept.append(self._keep(step))
        return RecordedStep(step.logits, RecordedState(step.state, state.sentences, read), step.weights)

    def records(self, sentence: int, tokens: Sequence[int], bos: int) -> tuple[StepRecord, ...]:
        """The steps that produced these tokens of a sentence; none if nothing was recorded."""
        if not self._kept:
            return ()
        read = (bos, *tokens)
        places = [self._places[sentence, read[: count + 1]] for count in range(len(tokens))]
        return tuple(self._record(self._kept[step], row) for step, row in places)

    def _keep(self, step: Step) -> _Kept:
        kept = step if self._trace else None
        if not self._top:
            return _Kept(kept, None, None, None)
        scores = log_probabilities(step.logits)
        values, ids = top(scores, min(self._top, scores.shape[-1]))
        # A token at -inf adds nothing: 0 · ln 0 is 0 here. In place, because new memory costs more than the arithmetic.
        entropies = -scores.exp().mul_(scores.clamp_(min=torch.finfo(scores.dtype).min)).sum(dim=-1)
        return _Kept(kept, *(one.cpu().numpy() for one in (ids, values.exp(), entropies)))

    def _record(self, kept: _Kept, row: int) -> StepRecord:
        top: tuple[tuple[int, float], ...] = ()
        if kept.ids is not None and kept.probabilities is not None:
            top = tuple(zip(kept.ids[row].tolist(), kept.probabilities[row].tolist(), strict=True))
        entropy = None if kept.entropies is None else float(kept.entropies[row])
        return StepRecord(top, entropy, () if kept.step is None else _layers(kept.step, row))


def _layers(step: Step, row: int) -> tuple[LayerTrace, ...]:
    """The attention of each layer, for one row."""
    if step.weights is None:
        return ()
    found = []
    for trace, weights in zip(step.trace, step.weights[row], strict=True):
        if trace is None:
            continue
        found.append(
            LayerTrace(
                query=trace.query[row, 0],
                scores=trace.scores[row, :, 0],
                mask=trace.mask[row, :, 0].expand(trace.scores.shape[1], -1),
                weights=weights,
                context=None if trace.context is None else trace.context[row, 0],
                gaussian=None if trace.gaussian is None else trace.gaussian[row, 0, 0],
                center=None if trace.center is None else float(trace.center[row, 0]),
            )
        )
    return tuple(found)
