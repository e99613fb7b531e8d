"""Exercise 3: padding gets 0, sentences of length 1, huge scores at the padding."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.attention.worked import softmax_row
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e03_masking import alternatives, mistakes
from regard.course.slips import declare


def masked_softmax(scores: ndarray, lengths: ndarray) -> ndarray:
    """Row by row with the package's reference."""
    places = np.arange(scores.shape[1])
    return np.stack([softmax_row(row, places < length) for row, length in zip(scores, lengths, strict=True)])


def ragged(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """The first row is shorter than the rest, so that there is always padding to go wrong with."""
    batch, source = sizes["batch"], sizes["source"]
    lengths = random.integers(1, source + 1, size=batch)
    lengths[0] = random.integers(1, source)
    return {"scores": random.normal(size=(batch, source)), "lengths": lengths}


def no_padding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    batch, source = sizes["batch"], sizes["source"]
    return {"scores": random.normal(size=(batch, source)), "lengths": np.full(batch, source)}


def single_words(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = ragged(sizes, random)
    return {**given, "lengths": np.ones_like(given["lengths"])}


def huge_padding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = ragged(sizes, random)
    real = np.arange(sizes["source"]) < given["lengths"][:, None]
    return {**given, "scores": np.where(real, given["scores"], 1e30)}


def nan_padding(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = ragged(sizes, random)
    real = np.arange(sizes["source"]) < given["lengths"][:, None]
    return {**given, "scores": np.where(real, given["scores"], np.nan)}


def very_negative(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Scores below every finite number that people mask with."""
    given = ragged(sizes, random)
    return {**given, "scores": given["scores"] - 1e31}


def large(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = ragged(sizes, random)
    signs = np.where(np.arange(sizes["batch"]) % 2, -1.0, 1.0)[:, None]
    return {**given, "scores": given["scores"] + 2000 * signs}


def single_precision(sizes: Mapping[str, int], random: Generator) -> Arguments:
    given = ragged(sizes, random)
    return {**given, "scores": given["scores"].astype(np.float32)}


def padding_is_dark(attempt: Attempt, check: Check, random: Generator) -> None:
    given = ragged({"batch": 4, "source": 6}, random)
    weights = attempt.masked_softmax(**given)
    for row, length in enumerate(given["lengths"]):
        check.that(
            bool((weights[row, length:] == 0).all()), f"Row {row}: the padding got a weight that is not exactly 0."
        )
    check.same(
        weights.sum(axis=1), np.ones(4), "The words of a row do not share all of the weight.", labels="sum/wanted"
    )


def padding_never_matters(attempt: Attempt, check: Check, random: Generator) -> None:
    scores = random.normal(size=(1, 3))
    alone = attempt.masked_softmax(scores, np.array([3]))
    for rubbish in (0.0, -50.0, 700.0):
        padded = attempt.masked_softmax(np.concatenate([scores, np.full((1, 2), rubbish)], axis=1), np.array([3]))
        check.same(
            padded[:, :3],
            alone,
            f"Two padding scores of {rubbish:g} changed the words' weights.",
            labels="padded/alone",
        )


SIZES = {"batch": (1, 3), "source": (2, 5)}

EXERCISE = declare(
    __file__,
    reference={"masked_softmax": masked_softmax},
    families=(
        Family("sentences of several lengths", ragged, SIZES, outputs=("weights",)),
        Family("no padding at all", no_padding, {"batch": (1, 2), "source": (1, 4)}, outputs=("weights",), count=4),
        Family("sentences of one word", single_words, SIZES, outputs=("weights",), count=4),
        Family("float32 in, float32 out", single_precision, SIZES, outputs=("weights",), count=4),
        Family("huge scores at the padding", huge_padding, SIZES, outputs=("weights",), kind="stability"),
        Family("nan at the padding", nan_padding, SIZES, outputs=("weights",), kind="stability", count=4),
        Family("scores of ±2,000", large, SIZES, outputs=("weights",), kind="stability", count=4),
        Family("very negative scores", very_negative, SIZES, outputs=("weights",), kind="stability", count=4),
    ),
    laws=(
        Law("padding stays dark", "weights are exactly 0 at the padding and sum to 1 over the words", padding_is_dark),
        Law("padding never matters", "whatever stands at the padding, the words' weights stay", padding_never_matters),
    ),
    mistakes=(
        Mistake(
            "no_mask",
            "Nothing is masked: the padding takes part in the softmax and gets weight like a word.",
            ({"masked_softmax": mistakes.no_mask},),
        ),
        Mistake(
            "after_softmax",
            "You zeroed the padding after the softmax and did not renormalise: the light that fell on the padding is "
            "lost, and the words' weights no longer sum to 1. Mask the scores before the softmax.",
            ({"masked_softmax": mistakes.after_softmax},),
        ),
        Mistake(
            "times_zero",
            "You multiplied the padding's scores by 0. A score of 0 is an ordinary score: exp(0) = 1. To get no weight "
            "a position needs the score minus infinity.",
            ({"masked_softmax": mistakes.times_zero},),
        ),
        Mistake(
            "inverted",
            "The mask is inverted: you kept the padding and hid the words. True must mean real: position < length.",
            ({"masked_softmax": mistakes.inverted}, {"masked_softmax": mistakes.inverted_finite}),
        ),
        Mistake(
            "off_by_one",
            "The mask is off by one. Positions are counted from 0, so a sentence of length 3 has positions 0, 1 and "
            "2: real means position < length.",
            ({"masked_softmax": mistakes.one_too_many}, {"masked_softmax": mistakes.one_too_few}),
        ),
        Mistake(
            "renormalised",
            "Zeroing after the softmax and dividing again is right on paper. But the largest score that is subtracted "
            "is then the padding's: beside a huge one the words' weights become 0, and 0 / 0 is nan. Mask the scores "
            "before the softmax.",
            ({"masked_softmax": mistakes.renormalised},),
        ),
        Mistake(
            "added_constant",
            "You add a large negative number to the padding's scores, which works until a leftover score is larger "
            "still. Replace the scores (np.where) instead of adding to them.",
            ({"masked_softmax": mistakes.added_constant},),
        ),
    ),
    alternatives=(
        {"masked_softmax": alternatives.row_by_row},
        {"masked_softmax": alternatives.lowest_float},
    ),
    praise="Padding is dark now, whatever stands there, and the words share all of the light.",
)
