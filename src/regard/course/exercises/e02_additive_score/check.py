"""Exercise 2: exact shape, the equation, the gradient by finite differences."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.attention.additive.reference import additive
from regard.attention.worked import global_view
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e02_additive_score import alternatives, mistakes
from regard.course.slips import declare


def additive_score(query: ndarray, states: ndarray, W_s: ndarray, W_h: ndarray, v: ndarray) -> ndarray:
    """The package's reference, for one decoder step."""
    view = global_view(np.ones(len(states), dtype=bool), 1)
    return additive(query[None], states, view, W_s=W_s, W_h=W_h, v=v).scores.reshape(-1)


def any_widths(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {
        "query": random.normal(size=sizes["query"]),
        "states": random.normal(size=(sizes["source"], sizes["state"])),
        "W_s": random.normal(size=(sizes["width"], sizes["query"])),
        "W_h": random.normal(size=(sizes["width"], sizes["state"])),
        "v": random.normal(size=sizes["width"]),
    }


def square(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Equal widths everywhere: whatever is swapped or transposed still multiplies, and must still be right."""
    width = sizes["width"]
    return any_widths({"query": width, "state": width, "width": width, "source": sizes["source"]}, random)


def single_precision(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return {name: value.astype(np.float32) for name, value in any_widths(sizes, random).items()}


def gradient(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_widths({"query": 3, "state": 2, "width": 4, "source": 3}, random)
    inside = given["W_s"] @ given["query"] + given["states"] @ given["W_h"].T
    slopes = given["v"] * (1 - np.tanh(inside) ** 2)
    wanted = {
        "query": (slopes @ given["W_s"]).sum(axis=0),
        "states": slopes @ given["W_h"],
        "v": np.tanh(inside).sum(axis=0),
    }
    for name, want in wanted.items():

        def total(value: ndarray, name: str = name) -> float:
            return float(attempt.additive_score(**{**given, name: value}).sum())

        check.slope(total, given[name], want, f"Moving `{name}` a little moves your scores by another amount.")


def needs_the_query(attempt: Attempt, check: Check, random: Generator) -> None:
    given = any_widths({"query": 3, "state": 3, "width": 4, "source": 4}, random)
    first = attempt.additive_score(**given)
    second = attempt.additive_score(**{**given, "query": -given["query"]})
    check.that(
        float(np.ptp(second - first)) > 1e-6,
        "Another query moved all scores by the same amount: softmax would not notice it.",
    )


SIZES = {"query": (1, 3), "state": (1, 3), "width": (1, 4), "source": (1, 4)}

EXERCISE = declare(
    __file__,
    reference={"additive_score": additive_score},
    families=(
        Family(
            "query, states and width all of equal size",
            square,
            {"width": (1, 3), "source": (1, 3)},
            outputs=("scores",),
        ),
        Family("widths that differ", any_widths, SIZES, outputs=("scores",)),
        Family("float32 in, float32 out", single_precision, SIZES, outputs=("scores",), count=3),
    ),
    laws=(
        Law(
            "the query matters", "another query changes the scores' differences, not only their height", needs_the_query
        ),
        Law("gradient", "finite differences of your scores equal the derivative of the equation", gradient),
    ),
    mistakes=(
        Mistake(
            "no_tanh",
            "The tanh is missing. Without it the query adds one and the same number to every score, and softmax cannot "
            "see it: the decoder would look at the same place at every step.",
            ({"additive_score": mistakes.no_tanh},),
        ),
        Mistake(
            "matrices_swapped",
            "The matrices are swapped: W_s belongs to the query (the decoder's state s), W_h to the encoder's states "
            "h. With equal widths nothing complains, so the shapes cannot warn you.",
            ({"additive_score": mistakes.swapped_matrices},),
        ),
        Mistake(
            "matrices_transposed",
            "You multiply with the matrices the wrong way round. W_s is [width, query], so it is W_s @ query; for the "
            "states as rows it is states @ W_h.T.",
            ({"additive_score": mistakes.transposed_matrices},),
        ),
    ),
    alternatives=(
        {"additive_score": alternatives.position_by_position},
        {"additive_score": alternatives.one_matrix},
    ),
    praise="That is the network at the heart of Bahdanau, Cho and Bengio (2014), section 3.1.",
)
