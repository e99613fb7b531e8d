"""The second line of diagnosis, for answers that no named mistake explains: properties of the answers themselves."""

from collections.abc import Iterable

import numpy as np
from numpy import ndarray

from regard.course.attempt import Attempt
from regard.course.axis_names import Names, axes_of
from regard.course.collection_relations import collection_relation
from regard.course.error_advice import advice_for
from regard.course.exercise import Exercise
from regard.course.input_relations import (
    changes_by_itself,
    dependence,
    mixes_the_batch,
    right_for_one_rank,
    right_only_for,
    weight_at_the_padding,
)
from regard.course.known_values import known_values, lost_precision
from regard.course.shape_relations import part_in_a_tuple, parts_in_another_order, shape_relation, too_many_results
from regard.course.trial import Trial
from regard.course.value_relations import number_relation, value_relation

MOST_SENTENCES = 3
INPUTS = 4
"""On so many inputs an argument must make no difference before it is called unused."""


def properties(exercise: Exercise, attempt: Attempt, trials: list[Trial]) -> str:
    """What the wrong answers have in common, in a few sentences; empty if nothing was found."""
    wrong = [trial for trial in trials if trial.wrong]
    if not wrong:
        return lost_precision(trials)
    softmax = not exercise.solution or "softmax" in exercise.solution or "exp(" in exercise.solution
    if any(changes_by_itself(attempt, trial) for trial in wrong[:INPUTS]):
        return "The same input gives another answer at each call: your function uses random numbers of its own."
    with np.errstate(all="ignore"):
        found = [*_of_structure(trials), *_of_errors(wrong), *right_for_one_rank(trials)]
        if wrong[0].yours.error is None:  # the answers of a program that raises elsewhere say little
            found += [
                *known_values(wrong),
                *weight_at_the_padding(trials, softmax),
                *_of_dependence(exercise, attempt, trials),
                *_of_parts(exercise, wrong),
            ]
        found += right_only_for(trials, softmax)
    return " ".join(list(dict.fromkeys(found))[:MOST_SENTENCES])


def _of_structure(trials: list[Trial]) -> list[str]:
    found = (parts_in_another_order(trials), too_many_results(trials), part_in_a_tuple(trials))
    return [sentence for sentence in found if sentence]


def _of_errors(wrong: list[Trial]) -> list[str]:
    errors = [trial.yours.error for trial in wrong if trial.yours.error is not None]
    sentence = advice_for(errors[0]) if errors else ""
    return [sentence] if sentence else []


def _of_dependence(exercise: Exercise, attempt: Attempt, trials: list[Trial]) -> list[str]:
    """Arguments that the answer wrongly ignores or wrongly depends on, and mixing between the sentences of a batch."""
    reference = Attempt(exercise.reference)
    ordinary = [trial for trial in trials if trial.family.kind == "spec"]  # extreme numbers saturate: all are alike
    some = [trial for trial in ordinary if trial.sizes and trial.wrong][:INPUTS]
    found = [one for trial in some if (one := dependence(attempt, reference, trial)) is not None]
    sentences = []
    if found and len({one.part for one in found}) == 1:
        what = "Your answer" if found[0].part == "your answer" else f"{found[0].part[0].upper()}{found[0].part[1:]}"
        several = what.endswith("s") and not what.endswith("ss")
        unused = _consistent_names((one.unused, one.telling) for one in found)
        telling = set().union(*(one.telling for one in found))  # silent elsewhere: a row of one entry is always 1
        beyond = _consistent_names((one.beyond - telling, one.silent) for one in found)
        if unused:
            ends = "they are not used" if len(unused) > 1 else "it is not used"
            sentences.append(f"{what} {'do' if several else 'does'} not depend on {_listed(unused)}: {ends}.")
        if beyond:
            ends = "used instead" if unused else "but should not"
            sentences.append(f"{what} {'depend' if several else 'depends'} on {_listed(beyond)}, {ends}.")
    if any(mixes_the_batch(attempt, reference, trial) for trial in some):
        sentences.append("The sentences of a batch are mixed: each sentence may use its own numbers only.")
    return sentences


def _consistent_names(sets: Iterable[tuple[set[str], set[str]]]) -> list[str]:
    """Names that occur in at least one first set, and in the first set of every pair whose second set has them."""
    pairs = list(sets)
    names = {name for first, _ in pairs for name in first}
    return sorted(name for name in names if all(name in first or name not in second for first, second in pairs))


def _listed(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _of_parts(exercise: Exercise, wrong: list[Trial]) -> list[str]:
    """Relations of the first wrong part, over all inputs where that part is the wrong one."""
    first = next((trial.difference for trial in wrong if trial.difference and trial.difference.wanted), None)
    if first is None or first.wanted is None:
        return []
    name = first.wanted.name
    leaves, trials = [], []
    for trial in wrong:
        if trial.difference and trial.difference.wanted and trial.difference.wanted.name == name:
            assert trial.difference.yours is not None
            leaves.append((trial.difference.yours, trial.difference.wanted))
            trials.append(trial)
    if all(isinstance(one.value, float) for pair in leaves for one in pair):
        mine, want = (np.array([pair[side].value for pair in leaves]) for side in (0, 1))
        return number_relation(mine, want)
    if not all(isinstance(one.value, ndarray) for pair in leaves for one in pair):
        return collection_relation(leaves)
    arrays = [(mine.value, want.value) for mine, want in leaves]
    axes = _axes(exercise, trials[0], name)
    other_shape = [(one, other) for one, other in arrays if one.shape != other.shape]
    if other_shape:
        telling = [pair for pair in other_shape if 1 not in (*pair[0].shape, *pair[1].shape)] or other_shape
        sentence = shape_relation(telling, axes)
        return [sentence] if sentence else []
    return value_relation(arrays, [trial.sizes for trial in trials], axes)


def _axes(exercise: Exercise, trial: Trial, name: str) -> Names:
    function = trial.family.function or exercise.functions[0]
    _, results = axes_of(exercise.solution, function)
    outputs = trial.family.outputs
    if trial.family.call is not None and name not in outputs:  # the check's own name for something else
        return ()
    place = outputs.index(name) if name in outputs else 0
    return results[place] if place < len(results) else ()
