"""On which inputs an answer is right, and which inputs it does not depend on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy import ndarray

from regard.course.attempt import Attempt
from regard.course.exercise import Arguments
from regard.course.outcome import Outcome, equal, run, same
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
"""How an axis of size 1 is described to the learner."""


def right_only_for(trials: list[Trial], softmax: bool = True) -> list[str]:
    """Sizes and padding that separate the right answers from the wrong ones; `softmax`: the exercise has one."""
    drawn = [trial for trial in trials if trial.sizes]
    found = list(_padding(drawn))
    axes = {axis for trial in drawn for axis in trial.sizes}
    for axis in sorted(axes if softmax else axes - {"source"}):
        here = [trial for trial in drawn if axis in trial.sizes]
        ones = [trial for trial in here if trial.sizes[axis] == 1]
        more = [trial for trial in here if trial.sizes[axis] > 1]
        if not ones or not more:
            continue
        name = ONE.get(axis, f"`{axis}` = 1")
        if not any(trial.wrong for trial in more) and all(trial.wrong for trial in ones):
            found.append(_wrong_for_one(axis, name))
        elif not any(trial.wrong for trial in ones) and all(trial.wrong for trial in more):
            found.append(f"Your answer is right for {name} only: {_more_than_one(axis)}.")
    return found


def _more_than_one(axis: str) -> str:
    if axis == "width":
        return "a factor that depends on the width is wrong, or only one of its entries is used"
    return "what is done must be done for each of them by itself"


def _wrong_for_one(axis: str, name: str) -> str:
    remedy = " A .squeeze() without an axis removes every axis of size 1: name the axis." if axis == "batch" else ""
    return f"Your answer is right, except for {name}: there an axis of size 1 is lost or mixed up.{remedy}"


def _padding(trials: list[Trial]) -> Iterator[str]:
    states = [(padded, trial.wrong) for trial in trials if (padded := _has_padding(trial.arguments)) is not None]
    without = [wrong for padded, wrong in states if not padded]
    with_padding = [wrong for padded, wrong in states if padded]
    if without and with_padding and not any(without) and all(with_padding):
        yield "Your answer is right without padding only: what stands at the padding takes part (mask or pack it)."


def right_for_one_rank(trials: list[Trial]) -> Iterator[str]:
    """Arrays with one number of axes come out right, others do not."""
    ranks: dict[int, set[bool]] = {}
    for trial in (one for one in trials if one.sizes):
        rank = np.ndim(next((one for one in trial.arguments.values() if hasattr(one, "ndim")), 0))
        ranks.setdefault(rank, set()).add(trial.wrong)
    right = [rank for rank, wrong in ranks.items() if wrong == {False}]
    if len(ranks) > 1 and len(right) == 1 and 0 not in ranks:
        yield (
            f"Your answer is right for arrays with {right[0]} axes only: count axes from the end (axis=-1), and do not "
            f"loop over the first axis."
        )


def _has_padding(arguments: Arguments) -> bool | None:
    """Whether some position is not real; None where the input does not say."""
    real, lengths = arguments.get("real"), arguments.get("lengths")
    if real is not None and hasattr(real, "all"):
        return not bool(real.all())
    rectangle = next((arguments[name] for name in ("scores", "embedded", "states") if name in arguments), None)
    if lengths is not None and rectangle is not None and hasattr(rectangle, "shape"):
        return not bool((lengths == rectangle.shape[1]).all())
    return None


def weight_at_the_padding(trials: list[Trial], softmax: bool = True) -> list[str]:
    """Whether positions that are not real have weight in an answer of their shape, and how much."""
    largest, seen, ones = 0.0, False, True
    for trial in trials:
        real = _real(trial.arguments)
        for mine, want in trial.parts:
            if real is None or real.all() or not isinstance(want.value, ndarray) or want.value.shape != real.shape:
                continue
            if isinstance(mine.value, ndarray) and mine.value.shape == real.shape and not want.value[~real].any():
                found = np.abs(np.nan_to_num(mine.value[~real].astype(float)))
                seen, ones = True, ones and bool((mine.value == 1).all())
                largest = max(largest, float(found.max(initial=0)))
    if not seen or largest == 0:
        return []
    if not softmax:
        return ["A position behind a sentence's end is chosen: only the places where `real` is True hold words."]
    if ones:
        return [
            "Every weight is 1: the softmax runs over an axis of one entry. Remove that axis first (squeeze(-1)), so "
            "that it runs over the source words."
        ]
    if largest < 1e-3 or all(trial.family.kind == "stability" for trial in trials if trial.wrong):
        return [FINITE]
    return [
        "The padding gets weight. Where there is a softmax, the padding's score must be minus infinity before it, so "
        "that exp gives exactly 0."
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


@dataclass
class Dependence:
    """What happens to the first wrong part of an answer when one argument changes."""

    part: str
    unused: set[str] = field(default_factory=set)
    """Arguments that change the right part, but not the learner's."""
    telling: set[str] = field(default_factory=set)
    """All arguments that change the right part."""
    beyond: set[str] = field(default_factory=set)
    """Arguments that change the learner's part, but not the right one."""
    silent: set[str] = field(default_factory=set)
    """All arguments that do not change the right part."""


def dependence(attempt: Attempt, reference: Attempt, trial: Trial) -> Dependence | None:
    """Changes one argument at a time; None where the first wrong part has no name or the learner's is not finite."""
    if trial.difference is None or trial.difference.wanted is None or trial.yours.error is not None:
        return None
    found = Dependence(trial.difference.wanted.name)
    yours = _part(trial.yours, found.part)
    if not isinstance(yours, ndarray) or yours.dtype.kind != "f" or not np.isfinite(yours).all() or not yours.any():
        return None
    right, other = _part(trial.wanted, found.part), draw(trial.family, trial.sizes, 99)
    for name, value in trial.arguments.items():
        changed = _other_value(value, other.get(name))
        if changed is None:
            continue
        arguments = {**trial.arguments, name: changed}
        want = _part(run(reference, trial.family, arguments), found.part)
        mine = _part(run(attempt, trial.family, arguments), found.part)
        if want is None or mine is None:
            continue
        moved = not equal(mine, yours, trial.family.tolerance)
        if equal(want, right, trial.family.tolerance):
            found.silent.add(name)
            found.beyond |= {name} if moved else set()
        else:
            found.telling.add(name)
            found.unused |= set() if moved else {name}
    return found


def changes_by_itself(attempt: Attempt, trial: Trial) -> bool:
    """Whether another call with the same arguments gives another answer."""
    again = run(attempt, trial.family, trial.arguments)
    return trial.yours.error is None and again.error is None and not same(trial.yours, again, trial.family.tolerance)


def mixes_the_batch(attempt: Attempt, reference: Attempt, trial: Trial) -> bool:
    """Whether other numbers in the last sentence change the learner's answer for the first, but not the right one."""
    batch = trial.sizes.get("batch", 1)
    if batch < 2 or trial.yours.error is not None:
        return False
    other = draw(trial.family, trial.sizes, 99)
    changed = {name: _last_row(value, other.get(name), batch) for name, value in trial.arguments.items()}
    pairs = []
    for who, before in ((attempt, trial.yours), (reference, trial.wanted)):
        after = run(who, trial.family, changed)
        firsts = [
            (one.value[0], two.value[0])
            for one, two in zip(before.leaves, after.leaves, strict=False)
            if isinstance(one.value, ndarray)
            and isinstance(two.value, ndarray)
            and one.value.shape[:1] == (batch,)
            and one.value.shape == two.value.shape
        ]
        pairs.append((bool(firsts) and after.error is None, all(equal(one, two) for one, two in firsts)))
    (ran, kept), (right_ran, right_kept) = pairs
    return ran and right_ran and right_kept and not kept


def _last_row(value: Any, other: Any, batch: int) -> Any:
    """The value with the last sentence's numbers from another draw; lengths, masks and whole numbers stay."""
    if getattr(value, "shape", ())[:1] != (batch,) or getattr(other, "shape", None) != value.shape:
        return value
    if not str(value.dtype).removeprefix("torch.").startswith("float"):
        return value
    changed = value.copy() if isinstance(value, ndarray) else value.clone()
    changed[-1] = other[-1]
    return changed


def _part(outcome: Outcome, name: str) -> Any:
    return next((leaf.value for leaf in outcome.leaves if leaf.name == name), None) if outcome.error is None else None


def _other_value(value: Any, other: Any) -> Any | None:
    """Another array of the same shape, or another number."""
    if isinstance(value, ndarray) and isinstance(other, ndarray) and value.shape == other.shape:
        return None if np.array_equal(value, other) else other
    if hasattr(value, "detach") and hasattr(other, "detach") and value.shape == other.shape:
        return None if bool((value == other).all()) else other
    if isinstance(value, int) and not isinstance(value, bool) and value > 1:
        return value - 1
    return None
