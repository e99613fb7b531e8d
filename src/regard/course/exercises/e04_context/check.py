"""Exercise 4: contexts lie in the convex hull of the states and do not depend on their order."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.attention.worked import global_view, work
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e04_context import alternatives, mistakes
from regard.course.slips import declare


def context_vectors(scores: ndarray, states: ndarray) -> ndarray:
    """The package's reference, with scores given."""
    view = global_view(np.ones(len(states), dtype=bool), len(scores))
    nothing = np.zeros((len(scores), 1), dtype=scores.dtype)
    return work(nothing, np.zeros((len(states), 1), dtype=scores.dtype), states, scores, view).context


def any_sizes(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {
        "scores": random.normal(size=(sizes["target"], sizes["source"])),
        "states": random.normal(size=(sizes["source"], sizes["state"])),
    }


def square(sizes: Mapping[str, int], random: Generator) -> Arguments:
    size = sizes["size"]
    return any_sizes({"target": size, "source": size, "state": size}, random)


def single_precision(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {name: value.astype(np.float32) for name, value in any_sizes(sizes, random).items()}


def huge(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = any_sizes(sizes, random)
    return {**given, "scores": given["scores"] * 2000}


def convex_hull(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_sizes({"target": 4, "source": 5, "state": 3}, random)
    contexts = attempt.context_vectors(**given)
    low, high = given["states"].min(axis=0) - 1e-9, given["states"].max(axis=0) + 1e-9
    inside = bool(((contexts >= low) & (contexts <= high)).all())
    check.that(inside, "A context lies outside the states it is a mean of: a mean never does.")


def picking(attempt: Attempt, check: Check, random: Generator) -> None:
    states = random.normal(size=(4, 3))
    check.same(
        attempt.context_vectors(np.eye(4) * 100, states),
        states,
        "Scores that pick one position must give exactly its state.",
        labels="context/state",
    )
    check.same(
        attempt.context_vectors(np.zeros((1, 4)), states),
        states.mean(axis=0, keepdims=True),
        "Equal scores must give the plain mean of the states.",
        labels="context/mean",
    )


def permutation(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_sizes({"target": 3, "source": 5, "state": 2}, random)
    order = random.permutation(5)
    shuffled = attempt.context_vectors(given["scores"][:, order], given["states"][order])
    check.same(
        shuffled,
        attempt.context_vectors(**given),
        "Shuffling positions (scores and states alike) changed the contexts.",
        labels="shuffled/before",
    )


SIZES = {"target": (1, 3), "source": (1, 4), "state": (1, 3)}

EXERCISE = declare(
    __file__,
    reference={"context_vectors": context_vectors},
    families=(
        Family("as many steps as positions as dimensions", square, {"size": (2, 3)}, outputs=("contexts",)),
        Family("sizes that differ", any_sizes, SIZES, outputs=("contexts",)),
        Family("float32 in, float32 out", single_precision, SIZES, outputs=("contexts",), count=3),
        Family("scores in the thousands", huge, SIZES, outputs=("contexts",), kind="stability", count=4),
    ),
    laws=(
        Law(
            "convex hull",
            "a weighted mean lies between the smallest and the largest of what it is a mean of",
            convex_hull,
        ),
        Law(
            "picking and averaging", "all weight on one position gives its state, equal weights give the mean", picking
        ),
        Law(
            "permutation",
            "the order of the positions does not matter, only which score belongs to which state",
            permutation,
        ),
    ),
    mistakes=(
        Mistake(
            "wrong_axis",
            "You add up over the wrong axis. The weights are [target, source]: each row must sum to 1 over the source, "
            "and the sum weight × state runs over the source too, so that `source` is the axis that disappears.",
            (
                {"context_vectors": mistakes.transposed_weights},
                {"context_vectors": mistakes.softmax_over_steps},
                {"context_vectors": mistakes.sum_over_width},
            ),
        ),
        Mistake(
            "uses_scores",
            "You weigh the states with the raw scores. Scores can be negative and sum to anything; softmax makes "
            "weights of them first.",
            ({"context_vectors": mistakes.uses_scores},),
        ),
        Mistake(
            "ignores_scores",
            "Every step gets the same vector, the plain mean of the states: that is the fixed vector again. Weigh the "
            "states with the softmax of the step's scores.",
            ({"context_vectors": mistakes.plain_mean},),
        ),
    ),
    alternatives=({"context_vectors": alternatives.in_one_einsum}, {"context_vectors": alternatives.step_by_step}),
    praise="Score, softmax, mean: that is all of attention. The rest of the course is what goes in and what comes out.",
)
