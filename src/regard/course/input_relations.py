"""On which inputs an answer is right, and which inputs it does not depend on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.attempt import Attempt
from regard.course.exercise import Arguments
from regard.course.outcome import run, same
from regard.course.shrink import draw
from regard.course.trial import Trial

ONE = {
    "batch": "a batch of one sentence",
    "source": "sentences of one word",
    "target": "a single step",
    "layer": "one layer",
    "sentences": "one sentence",
    "heads": "one head",
    "width": "a width of 1",
}
"""What size 1 of an axis is called."""


def right_only_for(trials: list[Trial]) -> list[str]:
    """Sizes and padding that separate the right answers from the wrong ones."""
    drawn = [trial for trial in trials if trial.sizes]
    found = list(_padding(drawn))
    for axis in sorted({axis for trial in drawn for axis in trial.sizes}):
        here = [trial for trial in drawn if axis in trial.sizes]
        ones = [trial for trial in here if trial.sizes[axis] == 1]
        more = [trial for trial in here if trial.sizes[axis] > 1]
        if not ones or not more:
            continue
        name = ONE.get(axis, f"`{axis}` = 1")
        if not any(trial.wrong for trial in more) and all(trial.wrong for trial in ones):
            found.append(_wrong_for_one(axis, name))
        elif not any(trial.wrong for trial in ones) and all(trial.wrong for trial in more):
            found.append(f"Your answer is right for {name} only: what is done must be done for each of them by itself.")
    return found


def _wrong_for_one(axis: str, name: str) -> str:
    remedy = " A .squeeze() without an axis removes every axis of size 1: name the axis." if axis == "batch" else ""
    return f"Your answer is right, except for {name}: there an axis of size 1 is lost or mixed up.{remedy}"


def _padding(trials: list[Trial]) -> Iterator[str]:
    states = [(padded, trial.wrong) for trial in trials if (padded := _has_padding(trial.arguments)) is not None]
    without = [wrong for padded, wrong in states if not padded]
    with_padding = [wrong for padded, wrong in states if padded]
    if without and with_padding and not any(without) and all(with_padding):
        yield "Your answer is right without padding only: what stands at the padding takes part (mask or pack it)."


def _has_padding(arguments: Arguments) -> bool | None:
    """Whether some position is not real; None where the input does not say."""
    real, lengths = arguments.get("real"), arguments.get("lengths")
    if real is not None and hasattr(real, "all"):
        return not bool(real.all())
    rectangle = next((arguments[name] for name in ("scores", "embedded", "states") if name in arguments), None)
    if lengths is not None and rectangle is not None and hasattr(rectangle, "shape"):
        return not bool((lengths == rectangle.shape[1]).all())
    return None


def weight_at_the_padding(trials: list[Trial]) -> list[str]:
    """Whether positions that are not real have weight in an answer of their shape, and how much."""
    largest, seen = 0.0, False
    for trial in trials:
        real = _real(trial.arguments)
        for mine, want in trial.parts:
            if real is None or not isinstance(want.value, ndarray) or want.value.shape != real.shape:
                continue
            if isinstance(mine.value, ndarray) and mine.value.shape == real.shape and not want.value[~real].any():
                found = np.abs(np.nan_to_num(mine.value[~real].astype(float)))
                seen = True
                largest = max(largest, float(found.max(initial=0)))
    if not seen or largest == 0:
        return []
    if largest < 1e-3 or all(trial.family.kind == "stability" for trial in trials if trial.wrong):
        return [FINITE]
    return [
        "The padding gets weight. Its score must be minus infinity before the softmax, so that exp gives exactly 0."
    ]


FINITE = (
    "The padding keeps a little weight, or all of it where the words' scores are very low: a finite number such as "
    "-1e9 in its place can be beaten. Use minus infinity, float('-inf')."
)


def _real(arguments: Arguments) -> ndarray | None:
    """The mask of the real positions, from `real` or from `lengths`."""
    real, lengths = arguments.get("real"), arguments.get("lengths")
    if real is not None and hasattr(real, "shape"):
        return np.asarray(real)
    scores = arguments.get("scores")
    if lengths is None or scores is None or np.ndim(scores) != 2:
        return None
    return np.asarray(np.arange(scores.shape[1]) < np.asarray(lengths)[:, None])


def unused_arguments(attempt: Attempt, reference: Attempt, trial: Trial) -> tuple[set[str], set[str]]:
    """(arguments that change the right answer but not the learner's, all arguments that change the right answer)."""
    family = trial.family
    other = draw(family, trial.sizes, 99)
    unused, telling = set(), set()
    for name, value in trial.arguments.items():
        changed = _other_value(value, other.get(name))
        if changed is None:
            continue
        arguments = {**trial.arguments, name: changed}
        before, after = run(reference, family, trial.arguments), run(reference, family, arguments)
        if after.error is not None or same(before, after, family.tolerance):
            continue
        telling.add(name)
        mine = run(attempt, family, arguments)
        if mine.error is None and same(trial.yours, mine, family.tolerance):
            unused.add(name)
    return unused, telling


def _other_value(value: Any, other: Any) -> Any | None:
    """Another array of the same shape, or another number."""
    if isinstance(value, ndarray) and isinstance(other, ndarray) and value.shape == other.shape:
        return None if np.array_equal(value, other) else other
    if hasattr(value, "detach") and hasattr(other, "detach") and value.shape == other.shape:
        return None if bool((value == other).all()) else other
    if isinstance(value, int) and not isinstance(value, bool) and value > 1:
        return value - 1
    return None
