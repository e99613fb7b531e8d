"""Exercise 1: sums, shift invariance, scores of ±800."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.attention.worked import softmax_row
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e01_softmax import alternatives, mistakes
from regard.course.slips import declare


def softmax(scores: ndarray) -> ndarray:
    """Row by row with the package's reference."""
    weights = np.empty_like(scores)
    for place in np.ndindex(scores.shape[:-1]):
        weights[place] = softmax_row(scores[place], np.ones(scores.shape[-1], dtype=bool))
    return weights


def one_row(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"scores": random.normal(size=sizes["source"])}


def batch(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"scores": random.normal(size=(sizes["batch"], sizes["source"]))}


def heads(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"scores": random.normal(size=(sizes["batch"], sizes["head"], sizes["source"]))}


def single_precision(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {"scores": random.normal(size=(sizes["batch"], sizes["source"])).astype(np.float32)}


def huge(sizes: Mapping[str, int], random: Generator) -> Arguments:
    signs = np.where(random.random((sizes["batch"], sizes["source"])) < 0.5, -800.0, 800.0)
    return {"scores": signs + random.normal(size=signs.shape)}


def huge_alone(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """A row far above 0 beside a row far below: each needs its own maximum."""
    signs = np.where(np.arange(sizes["batch"]) % 2, -1.0, 1.0)[:, None]
    return {"scores": 2000 * signs + random.normal(size=(sizes["batch"], sizes["source"]))}


def sums(attempt: Attempt, check: Check, random: Generator) -> None:
    for source in (1, 2, 7, 50):
        weights = attempt.softmax(random.normal(size=(3, source)) * 5)
        check.that(bool((weights >= 0).all()), "A weight is negative.")
        check.same(weights.sum(axis=-1), np.ones(3), "The weights of a row do not sum to 1.", labels="sum/wanted")


def shift(attempt: Attempt, check: Check, random: Generator) -> None:
    scores = random.normal(size=(2, 4))
    for amount in (-3.0, 0.5, 20.0):
        check.same(
            attempt.softmax(scores + amount),
            attempt.softmax(scores),
            f"Adding {amount:g} to every score changed the weights.",
            labels="shifted/before",
            tolerance=1e-9,
        )


EXERCISE = declare(
    __file__,
    reference={"softmax": softmax},
    families=(
        Family("a row of scores", one_row, {"source": (1, 5)}, outputs=("weights",)),
        Family("several rows, each with its own sum", batch, {"batch": (1, 3), "source": (1, 4)}, outputs=("weights",)),
        Family("three axes", heads, {"batch": (1, 2), "head": (1, 2), "source": (1, 3)}, outputs=("weights",)),
        Family(
            "float32 in, float32 out",
            single_precision,
            {"batch": (1, 2), "source": (1, 4)},
            outputs=("weights",),
            exact_dtype=True,
            count=4,
        ),
        Family("scores near ±800", huge, {"batch": (1, 2), "source": (1, 4)}, outputs=("weights",), kind="stability"),
        Family(
            "rows near +2,000 and −2,000",
            huge_alone,
            {"batch": (1, 3), "source": (1, 4)},
            outputs=("weights",),
            kind="stability",
        ),
    ),
    laws=(
        Law("shares of one light", "weights are never negative and each row sums to 1", sums),
        Law("shift invariance", "softmax(scores + constant) = softmax(scores)", shift),
    ),
    mistakes=(
        Mistake(
            "no_maximum",
            "You take exp() of the scores as they are: exp(800) is infinity, and infinity / infinity is nan. Subtract "
            "the largest score of each row first; the weights stay the same.",
            ({"softmax": mistakes.no_maximum},),
        ),
        Mistake(
            "one_maximum",
            "You subtract one maximum for all rows. A row whose scores all lie far below it becomes 0 / 0: subtract "
            "from each row its own maximum, with axis=-1 and keepdims=True.",
            ({"softmax": mistakes.one_maximum},),
        ),
        Mistake(
            "wrong_axis",
            "You normalise over the wrong axis: each row (the last axis) must sum to 1 by itself. Use axis=-1 and "
            "keepdims=True, for the maximum and for the sum.",
            (
                {"softmax": mistakes.first_axis},
                {"softmax": mistakes.first_axis_no_maximum},
                {"softmax": mistakes.all_axes},
                {"softmax": mistakes.all_axes_no_maximum},
            ),
        ),
    ),
    alternatives=({"softmax": alternatives.through_logarithms}, {"softmax": alternatives.row_by_row}),
    praise="Your softmax shares out the light whatever the scores are, 800 included.",
)
