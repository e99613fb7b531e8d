"""Exercise 17: inside a trained translator, every sentence must come out as with its own attention."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from regard.attention.additive.functional import additive_attention
from regard.bundle.store import Bundle
from regard.course.assertions import Broken, Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e17_repair import alternatives, mistakes, replaced_attention
from regard.course.exercises.e17_repair.small_translator import cache_home, translator
from regard.course.slips import declare
from regard.course.waiting import busy, remark
from regard.runtime.translation import Translation

PICTURE = "heatmap.png"


@cache
def trained() -> Bundle:
    """Looked for only when a learner's function has answered once: a starter needs no translator."""
    return translator(busy)


def attend(query: Tensor, states: Tensor, real: Tensor, W_s: Tensor, W_h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """The package's additive attention."""
    context, weights = additive_attention((query @ W_s.T)[:, None], states @ W_h.T, v, states, real[:, None])
    assert weights is not None
    return context[:, 0], weights[:, 0]


def any_sizes(sizes: Mapping[str, int], random: Generator) -> Arguments:
    torch.manual_seed(int(random.integers(2**31)))
    batch, source, hidden, state, width = (sizes[name] for name in ("batch", "source", "hidden", "state", "width"))
    lengths = torch.randint(1, source + 1, (batch, 1))
    lengths[0] = max(1, source - 1)
    return {
        "query": torch.randn(batch, hidden),
        "states": torch.randn(batch, source, state),
        "real": torch.arange(source) < lengths,
        "W_s": torch.randn(width, hidden),
        "W_h": torch.randn(width, state),
        "v": torch.randn(width) * 2,
    }


def very_low(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with; those of the padding are the lowest."""
    given = any_sizes(sizes, random)
    lowered = {name: given[name].abs() for name in ("W_s", "W_h", "query", "states")}
    lowered["states"] = lowered["states"] + 5.0 * ~given["real"][..., None]
    return {**given, **lowered, "v": -1e31 * given["v"].abs()}


def nothing(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """The sentences are fixed."""
    return {}


def inside_the_translator(attempt: Attempt, given: Arguments) -> dict[str, Any]:
    """Shapes first, on a small example; then every sentence. A learner's attempt is drawn, right or wrong."""
    small = any_sizes({"batch": 2, "source": 3, "hidden": 4, "state": 5, "width": 6}, np.random.default_rng(0))
    answer = attempt.attend(**small)
    pair = isinstance(answer, tuple | list) and len(answer) == 2
    if not pair or not all(isinstance(part, Tensor) for part in answer):
        raise Broken("attend() must return two tensors, the context and the weights.")
    shapes = [list(part.shape) for part in answer]
    found = [""] * len(replaced_attention.SENTENCES)
    if shapes == [[2, 5], [2, 3]]:
        yours = replaced_attention.translate(trained(), attempt.attend)
        found = [one.text for one in yours]
        if attempt.path is not None:
            _draw(yours[replaced_attention.DRAWN], attempt.path.with_name(PICTURE))
    translated = zip(replaced_attention.SENTENCES, found, strict=True)
    translations = {f"“{source}” in French": text for source, text in translated}
    return {"the context's shape": shapes[0], "the weights' shape": shapes[1], **translations}


def _draw(yours: Translation, path: Path) -> None:
    """Beside the learner's file, or in the cache folder where that cannot be written."""
    own = replaced_attention.translate(trained())[replaced_attention.DRAWN]
    try:
        replaced_attention.draw(yours, own, path)
    except OSError as error:
        elsewhere = replaced_attention.draw(yours, own, cache_home() / PICTURE)
        remark(f"The picture is {elsewhere}: {PICTURE} cannot be written beside your file ({error.strerror}).")


def same_places(attempt: Attempt, check: Check, random: Generator) -> None:
    yours, own = replaced_attention.translate(trained(), attempt.attend), replaced_attention.translate(trained())
    for mine, right in zip(yours, own, strict=True):
        otherwise = f"“{mine.source}” is translated well, but the weights are not where the translator looks."
        check.same(mine.attention, right.attention, otherwise, tolerance=1e-4)


def alone_and_together(attempt: Attempt, check: Check, random: Generator) -> None:
    repaired = replaced_attention.transplanted(trained(), attempt.attend)
    together = repaired.translate(replaced_attention.SENTENCES)
    for sentence, one in zip(replaced_attention.SENTENCES, together, strict=True):
        alone = repaired.translate(sentence)
        check.same(one.text, alone.text, f"“{sentence}” comes out otherwise alone than beside longer ones.")


OUTPUTS = ("the context", "the weights")
SIZES = {"batch": (1, 3), "source": (1, 4), "hidden": (1, 3), "state": (1, 3), "width": (1, 4)}

EXERCISE = declare(
    __file__,
    reference={"attend": attend},
    families=(
        Family(
            "inside the translator",
            nothing,
            call=inside_the_translator,
            describe=lambda given: ["eight sentences in one batch; heatmap.png shows where yours looked"],
            count=1,
            shrink=False,
            diagnostic=False,
        ),
        Family("small numbers", any_sizes, SIZES, outputs=OUTPUTS, causes=OUTPUTS[::-1], count=8),
        Family(
            "very negative scores",
            very_low,
            SIZES,
            outputs=OUTPUTS,
            causes=OUTPUTS[::-1],
            kind="stability",
            count=6,
        ),
    ),
    laws=(
        Law("the same places", "your weights are the translator's own, for every word of every sentence", same_places),
        Law("alone and together", "a sentence is translated alike alone and in a padded batch", alone_and_together),
    ),
    mistakes=(
        Mistake(
            "uniform",
            "Every word gets the same weight: the context is the plain mean of the sentence, one fixed vector again, "
            "and the decoder stammers. Look at heatmap.png: your half is evenly pale. Score each state against the "
            "query first.",
            (
                {"attend": mistakes.uniform},
                {"attend": mistakes.uniform_with_padding},
                {"attend": mistakes.uniform_context},
            ),
        ),
        Mistake(
            "mask",
            "The padding is looked at: sentences shorter than the longest of the batch lose light to it. Where `real` "
            "is False the score must be minus infinity before the softmax.",
            ({"attend": mistakes.no_mask}, {"attend": mistakes.inverted_mask}),
        ),
        Mistake(
            "no_tanh",
            "The tanh is missing. Without it the query adds the same number to every score, and the translator looks "
            "at the same place at every step.",
            ({"attend": mistakes.no_tanh},),
        ),
        Mistake(
            "multiplied",
            "You multiply the two projections. This translator was trained with the additive score: v · tanh(W_s s + "
            "W_h h). A mechanism and its matrices belong together.",
            ({"attend": mistakes.multiplied},),
        ),
        Mistake(
            "sharpest_only",
            "Only the largest score counts: that is hard attention. Often it finds the same words, but the translator "
            "was trained with the soft mixture of softmax.",
            ({"attend": mistakes.sharpest_only},),
        ),
    ),
    alternatives=({"attend": alternatives.with_products}, {"attend": alternatives.sentence_by_sentence}),
    praise="It speaks again, with your attention in it; heatmap.png shows your look beside its own. That was all.",
)
