"""Beam search that stays on its device: nothing is read back while it runs, but for a look every few steps.

The loop in `loop.py` decides on the host, which suits a CPU; on a GPU it would wait for the device at every step. Here
each sentence keeps `beam` slots, living or dead, and every decision is a tensor operation; the choices of each step are
kept as tensors and read once, at the end. Every `LOOK` steps the host asks which sentences still live, and the others
leave the batch. The same hypotheses come out, ties included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.loop import Ended, not_a_number, nothing_possible
from regard.search.options import Options
from regard.search.protocol import Stepper
from regard.search.scoring import log_probabilities
from regard.search.trail import Trail

LOOK = 8
"""Steps between two looks: a sentence that is done costs at most so many more."""


def stays(limits: Int[Tensor, " sentence"], options: Options) -> bool:
    """Whether a search runs here: not on the CPU, and with nothing that is decided word by word on the host."""
    return limits.device.type != "cpu" and not options.coverage and not options.no_repeat_ngram


@dataclass(frozen=True)
class _Slots:
    """The beams of the sentences that are still in the batch."""

    sentence: Int[np.ndarray, " sentence"]
    limit: Int[Tensor, " sentence"]
    divisor: Float[Tensor, " sentence"]
    """The most that a score can still be divided by."""
    score: Float[Tensor, "sentence slot"]
    """Of living hypotheses; -inf in dead slots."""
    merits: Float[Tensor, "sentence nbest"]
    """The best that have finished, falling; -inf where there are not yet so many."""
    ended: Bool[Tensor, " sentence"]
    """Whether it has anything to show already."""

    def keep(self, which: Int[np.ndarray, " kept"]) -> "_Slots":
        rows = torch.as_tensor(which, device=self.score.device)
        tensors = (self.limit, self.divisor, self.score, self.merits, self.ended)
        return _Slots(self.sentence[which], *(one.index_select(0, rows) for one in tensors))


@dataclass(frozen=True)
class _Moment:
    """What one step chose, best first in each sentence, and which of it ended."""

    sentence: Int[np.ndarray, " sentence"]
    rows: int
    """Rows of attention before this step's first."""
    width: int
    """Slots a sentence had before the choice."""
    parent: Int[Tensor, "sentence slot"]
    token: Int[Tensor, "sentence slot"]
    value: Float[Tensor, "sentence slot"]
    score: Float[Tensor, "sentence slot"]
    over: Bool[Tensor, "sentence slot"]
    wrong: Int[Tensor, " sentence"]
    """1: not a number, 2: no token was possible."""


def device_search(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int = LOOK,
) -> tuple[list[list[Ended]], Trail]:
    """The best `nbest` ended hypotheses of each sentence, best first, as `beam_search` would have found them."""
    longest, trail, moments = limits.cpu().numpy(), Trail(), list[_Moment]()
    with torch.no_grad():
        slots, state = _begin(longest, limits, options, nbest), stepper.start(source)
        if len(slots.sentence) < len(longest):
            state = state.select(torch.as_tensor(slots.sentence, device=limits.device))
        tokens = torch.full((len(slots.sentence),), options.bos, dtype=torch.long, device=limits.device)
        for length in range(1, int(longest.max(initial=0)) + 1):
            if length > 1 and (length - 1) % every == 0:
                living = np.flatnonzero((slots.score > -torch.inf).any(dim=1).cpu().numpy())
                if len(living) < len(slots.sentence):
                    width = slots.score.shape[1]
                    rows = torch.as_tensor((living[:, None] * width + np.arange(width)).ravel(), device=limits.device)
                    slots, state, tokens = slots.keep(living), state.select(rows), tokens.index_select(0, rows)
            if not len(slots.sentence):
                break
            step = stepper.step(tokens, state)
            numbers = trail.add(step.weights if options.weights else None, len(tokens))
            moment, slots = _choose(step.logits, slots, length, beam, options, int(numbers[0]))
            moments.append(moment)
            before = torch.arange(len(slots.sentence), device=limits.device)[:, None] * moment.width
            state, tokens = step.state.select((before + moment.parent).flatten()), moment.token.flatten()
    return _read(moments, longest, nbest, options), trail


def _begin(longest: Int[np.ndarray, " sentence"], limits: Tensor, options: Options, nbest: int) -> _Slots:
    sentence = np.flatnonzero(longest > 0)
    divisor = [options.penalty.divisor(int(limit)) for limit in longest[sentence]]
    device = limits.device
    return _Slots(
        sentence,
        limits.index_select(0, torch.as_tensor(sentence, device=device)),
        torch.tensor(divisor, dtype=torch.float64, device=device),
        torch.zeros(len(sentence), 1, dtype=torch.float64, device=device),
        torch.full((len(sentence), nbest), -torch.inf, dtype=torch.float64, device=device),
        torch.zeros(len(sentence), dtype=torch.bool, device=device),
    )


def _choose(
    logits: Float[Tensor, "rows vocabulary"], slots: _Slots, length: int, beam: int, options: Options, rows: int
) -> tuple[_Moment, _Slots]:
    """The `beam` best continuations of each sentence; ties: the earlier slot, then the lower id."""
    sentences, width = slots.score.shape
    scores = log_probabilities(logits)
    for banned in options.forbidden:
        if banned < scores.shape[1]:
            scores[:, banned] = -torch.inf
    values, ids = first_best(scores, beam)
    values, ids = (one.view(sentences, width, -1) for one in (values.double(), ids))
    living = slots.score > -torch.inf
    total = torch.where(living[:, :, None], slots.score[:, :, None] + values, -torch.inf).flatten(1)
    lost = living & scores.amax(dim=1).isnan().view(sentences, width)
    total, order = total.sort(dim=1, descending=True, stable=True)
    total, order = total[:, :beam], order[:, :beam]
    token, value = ids.flatten(1).gather(1, order), values.flatten(1).gather(1, order)
    possible = total > -torch.inf
    finished = possible & (token == options.eos)
    over = finished | (possible & (slots.limit[:, None] <= length))
    merit = torch.where(finished, total / options.penalty.divisor(length), -torch.inf)
    nbest = slots.merits.shape[1]
    merits = torch.cat([slots.merits, merit], dim=1).topk(nbest, dim=1).values
    going = possible & ~over & (total / slots.divisor[:, None] > merits[:, -1:])
    wrong = torch.where(lost.any(dim=1), 1, torch.where(living.any(dim=1) & ~possible.any(dim=1) & ~slots.ended, 2, 0))
    parent = order // values.shape[2]
    moment = _Moment(slots.sentence, rows, width, parent, token, value, total, over, wrong)
    score = torch.where(going, total, -torch.inf)
    ended = slots.ended | over.any(dim=1)
    return moment, _Slots(slots.sentence, slots.limit, slots.divisor, score, merits, ended)


def first_best(
    scores: Float[Tensor, "rows vocabulary"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """The `count` highest of each row, falling, equal ones by rising id, without a look at the values.

    `topk` chooses freely between equal values. A float32 and its place together are one int64, and those all differ:
    the float's bits, read so that they rise with it, above the place from behind.
    """
    vocabulary = scores.shape[1]
    count = min(count, vocabulary)
    if count == 1:  # argmax is documented to return the first of equal values
        index = scores.argmax(dim=1, keepdim=True)
        return scores.gather(1, index), index
    if scores.dtype != torch.float32:
        best = scores.sort(dim=1, descending=True, stable=True)
        return best.values[:, :count], best.indices[:, :count]
    bits = (scores + 0.0).view(torch.int32)  # -0.0 becomes 0.0, which it equals
    rising = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long()
    behind = torch.arange(vocabulary - 1, -1, -1, device=scores.device)
    index = vocabulary - 1 - ((rising << 32) + behind).topk(count, dim=1).values.bitwise_and(0xFFFFFFFF)
    return scores.gather(1, index), index


def _read(
    moments: Sequence[_Moment], longest: Int[np.ndarray, " sentence"], nbest: int, options: Options
) -> list[list[Ended]]:
    """Everything that ended, fetched at once and ranked as `beam_search` ranks it."""
    parents, tokens, values, scores, overs, wrongs = (
        (
            [part.cpu().numpy() for part in parts]
            for parts in zip(
                *((one.parent, one.token, one.value, one.score, one.over, one.wrong) for one in moments), strict=True
            )
        )
        if moments
        else ([], [], [], [], [], [])
    )
    found: list[list[tuple[bool, float, int, int, int]]] = [[] for _ in longest]
    for step, moment in enumerate(moments):
        for sentence in np.flatnonzero(wrongs[step]).tolist():
            raise (not_a_number if wrongs[step][sentence] == 1 else nothing_possible)(
                step, int(moment.sentence[sentence])
            )
        for place, slot in np.argwhere(overs[step]).tolist():
            done = bool(tokens[step][place, slot] == options.eos)
            merit = options.penalty.normalise(float(scores[step][place, slot]), step + 1)
            found[int(moment.sentence[place])].append((done, merit, step, place, slot))

    def whole(done: bool, step: int, place: int, slot: int) -> Ended:
        sentence, score = int(moments[step].sentence[place]), float(scores[step][place, slot])
        words, logs, path = [], [], []
        for back in range(step, -1, -1):
            place = int(np.searchsorted(moments[back].sentence, sentence))
            words.append(int(tokens[back][place, slot]))
            logs.append(float(values[back][place, slot]))
            slot = int(parents[back][place, slot])
            path.append(moments[back].rows + place * moments[back].width + slot)
        return Ended(sentence, score, tuple(words[::-1]), tuple(logs[::-1]), np.array(path[::-1]), finished=done)

    ranked = [sorted(group, key=lambda one: one[:2], reverse=True)[:nbest] for group in found]
    result = [[whole(done, *where) for done, _, *where in group] for group in ranked]
    for sentence in np.flatnonzero(longest <= 0).tolist():
        result[sentence] = [Ended(sentence, 0.0, (), (), np.zeros(0, dtype=np.int64), finished=False)]
    return result
