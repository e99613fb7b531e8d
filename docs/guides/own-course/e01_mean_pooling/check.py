"""Exercise 1: the mean of the real states, sentence by sentence."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law
from regard.course.slips import declare


def mean_pooling(states: ndarray, lengths: ndarray) -> ndarray:
    """The reference: one sentence after the other."""
    return np.stack([row[:length].mean(axis=0) for row, length in zip(states, lengths, strict=True)])


def batches(sizes: Mapping[str, int], random: Generator) -> Arguments:
    lengths = random.integers(1, sizes["source"] + 1, size=sizes["batch"])
    return {"states": random.normal(size=(sizes["batch"], sizes["source"], sizes["width"])), "lengths": lengths}


def padding(attempt: Attempt, check: Check, random: Generator) -> None:
    given = batches({"batch": 2, "source": 3, "width": 2}, random)
    before = attempt.mean_pooling(**given)
    longer = np.concatenate([given["states"], random.normal(size=(2, 2, 2))], axis=1)
    after = attempt.mean_pooling(longer, given["lengths"])
    check.same(after, before, "More padding changed the mean.", labels="padded/before")


EXERCISE = declare(
    __file__,
    reference={"mean_pooling": mean_pooling},
    families=(Family("padded batches", batches, {"batch": (1, 3), "source": (1, 4), "width": (1, 3)}),),
    laws=(Law("padding", "whatever stands at the padding changes nothing", padding),),
    praise="You have a summary that every attention has to beat.",
)
