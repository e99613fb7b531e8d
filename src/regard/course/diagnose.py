"""Diagnoses a wrong attempt: one or two named mistakes, else properties of its answers and advice on its error."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from regard.course.assertions import Broken, Check
from regard.course.attempt import Attempt
from regard.course.exercise import Exercise, Law, Mistake
from regard.course.outcome import quiet, run, same
from regard.course.second_line import properties
from regard.course.slips import both
from regard.course.trial import Trial

MOST_PAIRS = 400


@dataclass(frozen=True)
class Diagnosis:
    """`mistake` is the name of a recognised one; `advice` says what to do."""

    advice: str
    mistake: str | None = None


def diagnose(exercise: Exercise, attempt: Attempt, trials: list[Trial], law: Law | None) -> Diagnosis:
    """A named mistake if one fits, else the properties of the answers."""
    return named(exercise, attempt, trials, law) or Diagnosis(properties(exercise, attempt, trials))


def named(exercise: Exercise, attempt: Attempt, trials: list[Trial], law: Law | None) -> Diagnosis | None:
    """The first declared mistake that behaves like the attempt; or two of them at once.

    It must agree on every input, and on one where the attempt is wrong; where only a law failed, it must break that
    law in the same way.
    """
    for mistake in exercise.mistakes:
        if mistake.recognise is not None:
            if mistake.recognise(attempt):
                return Diagnosis(mistake.message, mistake.name)
            continue
        for variant in mistake.variants:
            if _behaves_like(attempt, Attempt({**exercise.reference, **variant}), trials, law):
                return Diagnosis(mistake.message, mistake.name)
    if law is None:
        for one, other, imposter in _pairs(exercise):
            if _behaves_like(attempt, imposter, trials, law):
                return Diagnosis(f"Two mistakes at once. {one.message} And: {other.message}", one.name)
    return None


def _pairs(exercise: Exercise) -> Iterator[tuple[Mistake, Mistake, Attempt]]:
    left = MOST_PAIRS
    for one, other in combinations([mistake for mistake in exercise.mistakes if mistake.edits], 2):
        for functions in both(one, other, exercise.functions):
            if left == 0:
                return
            left -= 1
            yield one, other, Attempt({**exercise.reference, **functions})


def _behaves_like(attempt: Attempt, imposter: Attempt, trials: list[Trial], law: Law | None) -> bool:
    evidence = False
    for trial in trials:
        family = trial.family
        if not same(trial.yours, run(imposter, family, trial.arguments), family.tolerance, family.exact_dtype):
            return False
        evidence = evidence or trial.wrong
    if not evidence and law is not None:
        broken = _breaks(imposter, law)
        return broken is not None and broken == _breaks(attempt, law)
    return evidence


def _breaks(attempt: Attempt, law: Law) -> str | None:
    """How an attempt breaks a law, if it does."""
    try:
        with quiet():
            law.trial(attempt, Check(), np.random.default_rng([7, *law.name.encode()]))
    except Broken as broken:
        return broken.headline
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
