"""Exercise 14: width 1 is greedy; a wide beam finds what trying everything finds; parity with the package's search."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e14_beam import alternatives, mistakes
from regard.course.exercises.e14_beam.solution import greedy
from regard.course.exercises.e14_beam.toy_model import EOS, ToyModel, Words
from regard.course.slips import declare
from regard.search import LengthPenalty, Options
from regard.search import beam_search as package_search

OUTSIDE = 10**6
"""Padding and BOS of the package's search; the toy models have neither."""


@dataclass(frozen=True)
class Beginnings:
    """The toy model as the package's search sees it: a state is the words so far of every row."""

    model: ToyModel
    words: tuple[Words, ...] = ((),)

    def select(self, rows: Tensor) -> "Beginnings":
        return Beginnings(self.model, tuple(self.words[row] for row in rows.tolist()))


@dataclass(frozen=True)
class ToyStep:
    logits: Tensor
    state: Beginnings
    weights: Tensor | None = None


class ToyStepper:
    def start(self, source: ToyModel) -> Beginnings:
        return Beginnings(source)

    def step(self, tokens: Tensor, state: Beginnings) -> ToyStep:
        grown = [
            words if token == OUTSIDE else (*words, token)
            for words, token in zip(state.words, tokens.tolist(), strict=True)
        ]
        logits = torch.from_numpy(np.stack([state.model(words) for words in grown]))
        return ToyStep(logits, Beginnings(state.model, tuple(grown)))


def beam_search(model: ToyModel, width: int, eos: int, longest: int) -> list[tuple[Words, float]]:
    """The package's search, without a length penalty."""
    options = Options(pad=OUTSIDE + 1, bos=OUTSIDE, eos=eos, penalty=LengthPenalty(0.0), weights=False)
    limits = torch.tensor([longest])
    (found,) = package_search(ToyStepper(), model, limits, beam=width, nbest=width, options=options)
    return [(one.tokens, one.score) for one in found if one.finished]


def toy(sizes: Mapping[str, int], random: Generator) -> Arguments:
    eos = EOS if sizes.get("first", 1) else sizes["vocabulary"] - 1
    model = ToyModel(int(random.integers(2**31)), sizes["vocabulary"], sizes["longest"], eos)
    return {"model": model, "width": sizes["width"], "eos": eos, "longest": sizes["longest"]}


def call(attempt: Attempt, given: Arguments) -> Any:
    """Sentences exactly, scores within a tolerance; anything else as it is."""
    answer = attempt.beam_search(**given)
    try:
        return {
            "the sentences": [tuple(int(word) for word in words) for words, _ in answer],
            "the scores": np.array([float(score) for _, score in answer]),
        }
    except (TypeError, ValueError):
        return answer


def shown(given: Arguments) -> list[str]:
    """The probabilities after every beginning of a tiny model; of a larger one the first few."""
    model, lines = given["model"], [f"width {given['width']}, longest {given['longest']}, EOS is word {given['eos']}"]
    beginnings: list[Words] = [()]
    for words in beginnings:
        values = "  ".join(f"{word}: {chance:.2f}" for word, chance in enumerate(np.exp(model(words))))
        lines.append(f"after {words!s:<12} {values}")
        if len(words) < given["longest"] - 1:
            beginnings += [(*words, word) for word in range(model.vocabulary) if word != given["eos"]]
        if len(lines) > 8:
            return [*lines, "…"]
    return lines


def everything(model: ToyModel, longest: int) -> list[tuple[Words, float]]:
    """All sentences with their scores, best first: the oracle that tries everything."""
    living: list[tuple[Words, float]] = [((), 0.0)]
    found = []
    for _ in range(longest):
        grown = [((*words, word), score + float(model(words)[word])) for words, score in living for word in range(3)]
        found += [one for one in grown if one[0][-1] == EOS]
        living = [one for one in grown if one[0][-1] != EOS]
    return sorted((one for one in found if np.isfinite(one[1])), key=lambda one: -one[1])


def width_one_is_greedy(attempt: Attempt, check: Check, random: Generator) -> None:
    for _ in range(8):
        given = toy({"vocabulary": 4, "longest": 5, "width": 1}, random)
        found = attempt.beam_search(**given)
        wanted = greedy(given["model"], EOS, 5)
        check.same([list(words) for words, _ in found], [list(wanted[0])], "Width 1 is not greedy search.")


def exhaustive(attempt: Attempt, check: Check, random: Generator) -> None:
    for _ in range(4):
        given = toy({"vocabulary": 3, "longest": 4, "width": 50}, random)
        found = attempt.beam_search(**given)
        wanted = everything(given["model"], 4)
        otherwise = "A beam as wide as the whole tree must find all sentences, in the order of their scores."
        check.same([list(words) for words, _ in found], [list(words) for words, _ in wanted], otherwise)
        check.same(
            np.array([score for _, score in found]), np.array([score for _, score in wanted]), "A score is wrong."
        )


def impossible(attempt: Attempt, check: Check, random: Generator) -> None:
    for _ in range(4):
        given = toy({"vocabulary": 3, "longest": 3, "width": 9}, random)
        model = replace(given["model"], shortest=2)
        found = attempt.beam_search(**{**given, "model": model})
        for words, score in found:
            check.that(
                bool(np.isfinite(score)),
                "An impossible sentence comes out: it contains a word of log-probability minus infinity. Such a word "
                "is no candidate, even if the beam has room for it.",
                f"{tuple(words)}  {score}",
            )
        wanted = everything(model, 3)
        otherwise = "Where EOS is impossible as the first word, other sentences are wanted."
        check.same([list(words) for words, _ in found], [list(words) for words, _ in wanted], otherwise)


def no_twins(attempt: Attempt, check: Check, random: Generator) -> None:
    given = toy({"vocabulary": 4, "longest": 4, "width": 6}, random)
    found = [tuple(words) for words, _ in attempt.beam_search(**given)]
    check.that(len(set(found)) == len(found), "The same sentence is there twice.", *(str(words) for words in found))
    for words in found:
        check.that(words.index(EOS) == len(words) - 1, "A sentence goes on after EOS.", str(words))


SIZES = {"vocabulary": (2, 4), "longest": (2, 4), "width": (1, 4), "first": (0, 1)}
WIDER = {"vocabulary": (2, 5), "longest": (3, 6), "width": (1, 4), "first": (0, 1)}

EXERCISE = declare(
    __file__,
    reference={"beam_search": beam_search},
    families=(
        Family("a beam of two", toy, {**SIZES, "width": (2, 2)}, call=call, describe=shown, count=10),
        Family("wider beams", toy, WIDER, call=call, describe=shown, count=24),
    ),
    laws=(
        Law("width 1 is greedy", "with one place in the beam the best word wins at every step", width_one_is_greedy),
        Law("exhaustive", "a beam that holds everything finds what trying everything finds", exhaustive),
        Law("impossible words", "a word of log-probability minus infinity is never chosen", impossible),
        Law("no twins", "no sentence twice, and none goes on after EOS", no_twins),
    ),
    mistakes=(
        Mistake(
            "duplicates",
            "You start with `width` copies of the empty hypothesis: each finds the same best word, and the beam is one "
            "hypothesis many times over. Start with a single one.",
            ({"beam_search": mistakes.duplicates},),
        ),
        Mistake(
            "goes_on_after_eos",
            "A hypothesis that ended in EOS is extended again. Set it aside when it ends, and leave it out of the "
            "living ones.",
            ({"beam_search": mistakes.never_ends}, {"beam_search": mistakes.goes_on_after_eos}),
        ),
        Mistake(
            "keeps_its_place",
            "Finished hypotheses keep a place in the beam, so the beam for the living shrinks. Some programs do it so; "
            "here a finished one is set aside and takes no place from then on.",
            ({"beam_search": mistakes.keeps_its_place},),
        ),
        Mistake(
            "stops_too_early",
            "You stop before everybody has ended. A living hypothesis may still beat the finished ones: go on until "
            "nobody lives.",
            ({"beam_search": mistakes.stops_at_the_first}, {"beam_search": mistakes.stops_when_enough}),
        ),
        Mistake(
            "each_its_best",
            "Every hypothesis keeps its own best continuation: that is several greedy searches side by side. All "
            "candidates of all hypotheses compete for the same `width` places.",
            ({"beam_search": mistakes.each_its_best},),
        ),
        Mistake(
            "each_its_own_beam",
            "Every hypothesis keeps its own `width` best extensions, so the beam grows with each step. Put the "
            "candidates of all hypotheses together, and keep the `width` best of all of them.",
            ({"beam_search": mistakes.each_its_own_beam},),
        ),
        Mistake(
            "ranked_by_mean",
            "The finished hypotheses are ranked by their mean log-probability. That is often wise; here the sum "
            "is asked for.",
            ({"beam_search": mistakes.ranked_by_mean},),
        ),
        Mistake(
            "too_many",
            "More than `width` hypotheses come back: return the best `width` of the finished ones.",
            ({"beam_search": mistakes.too_many},),
        ),
    ),
    alternatives=({"beam_search": alternatives.with_arrays}, {"beam_search": alternatives.recursive}),
    praise="Your search keeps its options open, and with room for everything it would miss nothing.",
)
