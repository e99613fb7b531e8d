"""Beam and greedy search whose choices stay on the device: the host reads them once, at the end.

The loop of `search/decode.py` decides on the host, which suits a CPU; on a GPU it would wait for the device at
every step. Here every decision is a tensor operation (`beam_slots.py`), and a step's choices stay on the device.
Every `LOOK` steps the host asks which sentences are still alive and drops the others from the batch. The hypotheses are
the same, ties included.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.fast.search.beam_slots import BeamChoice, HostStep, Slots, choose, ended, fetch
from regard.registry import Refusal, replaceable, replaces
from regard.search.decode import beam_search, greedy_search, hypotheses
from regard.search.hypothesis import Hypothesis
from regard.search.search_options import Options
from regard.search.search_tree import SearchTree
from regard.search.stepper import State, Stepper
from regard.search.trail import Trail

LOOK = 8
"""Steps between two looks: a sentence that is done costs at most so many more."""

Found = tuple[list[HostStep], Trail]


def _unfit(limits: Tensor, options: Options | None, prefixes: object) -> Refusal:
    if limits.device.type == "cpu":
        return "decisions on the host are faster on a CPU"
    if prefixes is not None:
        return "prefixes are decided word by word on the host"
    if options is not None and (options.coverage or options.no_repeat_ngram):
        return "coverage and repeated n-grams are decided word by word on the host"
    return None


def _unfit_greedy(
    stepper: Stepper, source: Any, limits: Tensor, *, options: Options | None = None, prefixes: object = None
) -> Refusal:
    return _unfit(limits, options, prefixes)


def _unfit_beam(
    stepper: Stepper,
    source: Any,
    limits: Tensor,
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: object = None,
    record: SearchTree | None = None,
    lengths: Tensor | None = None,
) -> Refusal:
    if record is not None:
        return "the tree is recorded on the host"
    if beam < 1 or not 1 <= nbest <= beam:
        return "impossible sizes, which the plain version reports"
    return _unfit(limits, options, prefixes)


@replaces(greedy_search, unless=_unfit_greedy)
def greedy_on_device(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, " sentence"],
    *,
    options: Options | None = None,
    prefixes: None = None,
) -> list[Hypothesis]:
    """Greedy search as a beam of one."""
    return [one for (one,) in device_search(stepper, source, limits, 1, 1, options or Options())]


@replaces(beam_search, unless=_unfit_beam)
def beam_on_device(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, " sentence"],
    *,
    beam: int = 4,
    nbest: int = 1,
    options: Options | None = None,
    prefixes: None = None,
    record: None = None,
    lengths: Int[Tensor, " sentence"] | None = None,
) -> list[list[Hypothesis]]:
    """Beam search; `lengths` matter for coverage alone, which is decided on the host."""
    return device_search(stepper, source, limits, beam, nbest, options or Options())


def device_search(
    stepper: Stepper,
    source: Any,
    limits: Int[Tensor, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int = LOOK,
) -> list[list[Hypothesis]]:
    """The best `nbest` hypotheses of each sentence, best first, as `beam_search` finds them."""
    longest = limits.cpu().numpy()
    with torch.no_grad():
        steps, trail = search_from(stepper, stepper.start(source), limits, longest, beam, nbest, options, every)
    return _hypotheses(steps, trail, longest, nbest, options)


def _hypotheses(
    steps: Sequence[HostStep], trail: Trail, longest: np.ndarray, nbest: int, options: Options
) -> list[list[Hypothesis]]:
    best = ended(steps, longest, nbest, options)
    found = iter(hypotheses([one for group in best for one in group], trail, options))
    return [[next(found) for _ in group] for group in best]


@replaceable
def search_from(
    stepper: Stepper,
    state: State,
    limits: Int[Tensor, " sentence"],
    longest: Int[np.ndarray, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int = LOOK,
) -> Found:
    """What every step from `state` on chose; `longest` are the limits on the host."""
    device, trail, chosen = limits.device, Trail(), list[tuple[Int[np.ndarray, " sentence"], int, int, BeamChoice]]()
    sentence = np.flatnonzero(longest > 0)
    first = torch.as_tensor(sentence, device=device)
    slots = Slots.begin(limits.index_select(0, first), longest[sentence].tolist(), options, nbest)
    if len(sentence) < len(longest):
        state = state.select(first)
    tokens = torch.full((len(sentence),), options.bos, dtype=torch.long, device=device)
    for length in range(1, int(longest.max(initial=0)) + 1):
        if length > 1 and (length - 1) % every == 0:
            living = np.flatnonzero(slots.living.any(dim=1).cpu().numpy())
            if len(living) < len(sentence):
                width, sentence = slots.score.shape[1], sentence[living]
                parents = torch.as_tensor((living[:, None] * width + np.arange(width)).ravel(), device=device)
                slots = slots.keep(torch.as_tensor(living, device=device))
                state, tokens = state.select(parents), tokens.index_select(0, parents)
        if not len(sentence):
            break
        step = stepper.step(tokens, state)
        numbers, width = trail.add(step.weights if options.weights else None, len(tokens)), slots.score.shape[1]
        choice, slots = choose(step.logits, slots, length, options.penalty.divisor(length), beam, options)
        chosen.append((sentence, int(numbers[0]), width, choice))
        before = torch.arange(len(sentence), device=device)[:, None] * width
        state, tokens = step.state.select((before + choice.parent).flatten()), choice.token.flatten()
    arrays = fetch([choice for *_, choice in chosen])
    steps = [
        HostStep(sentence, rows, width, *each) for (sentence, rows, width, _), each in zip(chosen, arrays, strict=True)
    ]
    return steps, trail
