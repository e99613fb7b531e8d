"""Beam search that stays on its device: nothing is read back while it runs, but for a look now and then.

The loop in `loop.py` decides on the host, which suits a CPU; on a GPU it would wait for the device at every step. Here
every decision is a tensor operation (`slots.py`); the choices of each step are kept as tensors and read once, at the
end. Every `LOOK` steps the host asks which sentences still live, and the others leave the batch. A few sentences go
another way, `few.py`. The same hypotheses come out, ties included.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.search.few import few_search
from regard.search.loop import Ended
from regard.search.options import Options
from regard.search.protocol import State, Stepper
from regard.search.slots import Choice, Moment, Slots, choose, ended, fetch
from regard.search.trail import Trail

LOOK = 8
"""Steps between two looks: a sentence that is done costs at most so many more."""


def stays(limits: Int[Tensor, " sentence"], options: Options) -> bool:
    """Whether a search runs here: not on the CPU, and with nothing that is decided word by word on the host."""
    return limits.device.type != "cpu" and not options.coverage and not options.no_repeat_ngram


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
    longest = limits.cpu().numpy()
    with torch.no_grad():
        state = stepper.start(source)
        found = few_search(stepper, state, limits, longest, beam, nbest, options) if limits.is_cuda else None
        moments, trail = found or _search(stepper, state, limits, longest, beam, nbest, options, every)
    return ended(moments, longest, nbest, options), trail


def _search(
    stepper: Stepper,
    state: State,
    limits: Int[Tensor, " sentence"],
    longest: Int[np.ndarray, " sentence"],
    beam: int,
    nbest: int,
    options: Options,
    every: int,
) -> tuple[list[Moment], Trail]:
    device, trail, chosen = limits.device, Trail(), list[tuple[Int[np.ndarray, " sentence"], int, int, Choice]]()
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
    moments = [
        Moment(sentence, rows, width, *each) for (sentence, rows, width, _), each in zip(chosen, arrays, strict=True)
    ]
    return moments, trail
