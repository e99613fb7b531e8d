"""Greedy and beam search of a few sentences on a GPU: the choices stay on the device, and steps are replayed.

The loop of `search/decode.py` chooses on the host, so a GPU would wait for it at every step. Here a choice is a tensor
operation (`beam_slots.py`), and a whole step is one CUDA graph (`captured_beam.py`). The hypotheses are the same, ties
included. Without a captured graph this search was slower than the plain loop, so it applies only where steps can be
captured.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.fast.search.beam_slots import Slots
from regard.fast.search.captured_beam import CapturedSearch, leaves
from regard.fast.search.step_identity import step_key
from regard.fast.search.whole_search import replace_searches
from regard.registry import Refusal
from regard.search.decode import hypotheses
from regard.search.ensemble import Ensemble
from regard.search.host_choices import follow
from regard.search.hypothesis import Hypothesis
from regard.search.search_options import Options
from regard.search.stepper import State, Stepper

FEW = 8
"""Largest number of sentences that are searched here: a finished one waits for the others."""
ROWS = 4096
"""Largest number of rows of attention that are kept for them."""
SHAPES = 24
"""Shapes that are kept for a model; the least recently used one is dropped."""


def _unfit(stepper: Stepper, limits: Tensor, beam: int, options: Options) -> Refusal:
    if not limits.is_cuda:
        return "CUDA graphs need a CUDA device"
    if options.coverage or options.no_repeat_ngram:
        return "coverage and repeated n-grams are checked on the host"
    if not 0 < len(limits) <= FEW:
        return f"not between 1 and {FEW} sentences"
    if step_key(stepper) is None:
        return "the steps of the model are not alike"
    longest = limits.cpu().numpy()
    if most_steps(longest) * len(limits) * beam > ROWS:
        return f"more than {ROWS} rows of attention"
    return None if int(longest.min()) > 0 else "a sentence may have no words"


def _bypassed(stepper: Stepper, *_: object, **__: object) -> Iterable[object]:
    return stepper.members if isinstance(stepper, Ensemble) else (stepper,)


def search_captured(
    stepper: Stepper, source: Any, limits: Int[Tensor, " sentence"], beam: int, nbest: int, options: Options
) -> list[list[Hypothesis]] | None:
    """The best `nbest` hypotheses of each sentence, best first; None while another thread uses the buffers."""
    longest = limits.cpu().numpy()
    with torch.no_grad(), torch.cuda.device_of(limits):  # type: ignore[no-untyped-call]
        state = stepper.start(source)
        rows = torch.arange(len(longest), device=limits.device)[:, None].expand(-1, beam).reshape(-1)
        state, slots = state.select(rows), Slots.begin(limits, longest.tolist(), options, beam, nbest)
        found = _find(stepper, state, slots, options, most_steps(longest))
        if not found.busy.acquire(blocking=False):
            return None
        try:
            choices, trail = found.search(stepper, state, slots, options, int(longest.max()))
        finally:
            found.busy.release()
    return hypotheses(follow(choices, nbest, options), trail, options)


greedy_captured, beam_captured = replace_searches(
    "greedy_captured", "beam_captured", _unfit, search_captured, bypasses=_bypassed
)


def most_steps(longest: Int[np.ndarray, " sentence"]) -> int:
    """A power of two, so that few sizes are captured."""
    return max(32, 1 << (int(longest.max(initial=0)) - 1).bit_length())


def _find(stepper: Stepper, state: State, slots: Slots, options: Options, steps: int) -> CapturedSearch:
    """The captured search of this model and these shapes. The caller pads sources to few lengths (source_text.py)."""
    key = (
        step_key(stepper), slots.score.shape, slots.merits.shape, steps, replace(options, penalty=Options().penalty),
        torch.is_inference_mode_enabled(), tuple((x.shape, x.dtype, x.device) for x in leaves(state)),
    )  # fmt: skip
    with _finding:
        table = _searches.setdefault(stepper, OrderedDict())
        found = table.get(key)
        if found is None:
            found = table[key] = CapturedSearch(state, slots, options, steps)
            if len(table) > SHAPES:
                table.popitem(last=False)
        table.move_to_end(key)
    return found


_searches: "WeakKeyDictionary[Any, OrderedDict[object, CapturedSearch]]" = WeakKeyDictionary()
_finding = Lock()
