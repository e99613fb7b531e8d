"""Exercise 10: what the eye sees on the axes, cell by cell; and questions about a given map."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Draw, Family, Law, Mistake
from regard.course.exercises.e10_heatmap import alternatives, eye, mistakes, solution
from regard.course.slips import declare

EOS = "EOS"
ENGLISH = ["jane", "sees", "the", "black", "bird", "in", "africa"]
FRENCH = ["jane", "voit", "l'", "oiseau", "noir", "en", "afrique"]
MAP = np.array(
    [
        [0.94, 0.04, 0.01, 0.00, 0.00, 0.00, 0.00, 0.01],
        [0.02, 0.89, 0.05, 0.00, 0.04, 0.00, 0.00, 0.00],
        [0.00, 0.05, 0.13, 0.05, 0.77, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.06, 0.94, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.87, 0.12, 0.00, 0.01, 0.00],
        [0.00, 0.00, 0.00, 0.01, 0.00, 0.11, 0.88, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.99, 0.01],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.04, 0.20, 0.76],
    ]
)
"""The translator of exercise 17 at work."""


def some_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Two to five words and EOS on each side; some words are spelled alike on both."""
    names = [ENGLISH[place] for place in random.permutation(len(ENGLISH))]
    source = [*names[: sizes["source"]], EOS]
    others = [word for word in FRENCH if word not in source] + source[:-1]
    target = [*(others[place] for place in random.permutation(len(others))[: sizes["target"]]), EOS]
    weights = np.exp(random.normal(size=(len(target), len(source))) * 2)
    return {"weights": weights / weights.sum(axis=1, keepdims=True), "source": source, "target": target}


def faded_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Rows that sum to less than 1, as local attention has them (exercise 13)."""
    given = some_map(sizes, random)
    return {**given, "weights": given["weights"] * random.uniform(0.3, 0.8, size=(len(given["target"]), 1))}


def unsure_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Rows whose largest weight is hardly larger than the rest; many words are spelled alike on both sides."""
    source = [*ENGLISH[: sizes["source"]], EOS]
    weights = np.exp(random.normal(size=(len(source), len(source))) * 0.3 + np.eye(len(source)) * 0.4)
    return {"weights": weights / weights.sum(axis=1, keepdims=True), "source": source, "target": list(source)}


def repeated_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """The same words several times on both sides, copied in their order or backwards."""
    words = ["the", "black", "the", "bird", "sees", "the", "bird", "in", "the"][: sizes["source"]]
    size = len(words)
    sharp = np.eye(size)[:: -1 if sizes["back"] else 1] * 5 + random.normal(size=(size, size)) * 0.2
    weights = np.pad(np.exp(sharp), ((0, 1), (0, 1)), constant_values=0.1)
    weights[-1, -1] = 50.0
    target = [*(words[::-1] if sizes["back"] else words), EOS]
    return {"weights": weights / weights.sum(axis=1, keepdims=True), "source": [*words, EOS], "target": target}


def capital_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Words that differ from what they look at in a capital letter only, beside words that are copied."""
    words = ["paris", "may", "turkey", "march", "china"][: sizes["source"]]
    target = [word.capitalize() if random.random() < 0.5 else word for word in words]
    target[0] = words[0].capitalize()
    size = len(words) + 1
    weights = np.exp(np.eye(size) * 3 + random.normal(size=(size, size)) * 0.2)
    weights /= weights.sum(axis=1, keepdims=True)
    return {"weights": weights, "source": [*words, EOS], "target": [*target, EOS]}


def look(attempt: Attempt, given: Arguments) -> Any:
    """Let the attempt draw, and look at what is there."""
    return attempt.beside(f"{eye.__name__}:look", given["weights"], given["source"], given["target"])


def without(*names: str, draw: Draw = some_map) -> Draw:
    """The same maps for a function that takes fewer arguments."""

    def drawn(sizes: Mapping[str, int], random: Generator) -> Arguments:
        return {name: value for name, value in draw(sizes, random).items() if name not in names}

    return drawn


def the_article(attempt: Attempt, check: Check, random: Generator) -> None:
    source, target = [*ENGLISH, EOS], [*FRENCH, EOS]
    looked = dict(zip(target, attempt.looked_at(MAP, source), strict=True))
    answers = {
        "What does the article look at?": (looked["l'"], "bird"),
        "What does the preposition look at?": (looked["en"], "africa"),
        "Which words changed places?": (attempt.swapped(MAP, target), [("oiseau", "noir")]),
        "Which word was copied?": (attempt.copied(MAP, source, target), ["jane"]),
    }
    for question, (mine, wanted) in answers.items():
        check.same(mine, wanted, f"The map of README.md. {question}")


def not_by_spelling(attempt: Attempt, check: Check, random: Generator) -> None:
    weights = np.array([[0.1, 0.8, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    mine = attempt.copied(weights, ["chat", "a", EOS], ["chat", "a", EOS])
    check.same(mine, [], "Both words look at another one than their like: spelled alike is not yet copied.")


def three_axes(attempt: Attempt, check: Check, random: Generator) -> None:
    given = some_map({"source": 3, "target": 2}, random)
    first, second = attempt.beside(f"{eye.__name__}:beside_other_axes", *given.values())
    check.that(not first, "You drew on other axes than those that you were given.")
    check.that(bool(second), "Nothing was drawn on the axes that you were given.")


SIZES = {"source": (1, 5), "target": (1, 5)}
AGAIN = {"source": (5, 9), "back": (0, 1)}


def square_map(sizes: Mapping[str, int], random: Generator) -> Arguments:
    return some_map({"source": sizes["size"], "target": sizes["size"]}, random)


def drawing(name: str, draw: Draw, sizes: Mapping[str, tuple[int, int]]) -> Family:
    """Maps that are small from the start: figures are slow, so nothing is shrunk."""
    return Family(f"draw: {name}", draw, sizes, function="draw", call=look, count=2, shrink=False)


EXERCISE = declare(
    __file__,
    reference={
        "draw": solution.draw,
        "looked_at": solution.looked_at,
        "swapped": solution.swapped,
        "copied": solution.copied,
    },
    families=(
        drawing("as many words on both sides", square_map, {"size": (2, 2)}),
        drawing("more words on one side", some_map, {"source": (2, 3), "target": (1, 2)}),
        drawing("rows that sum to less than 1", faded_map, {"source": (1, 2), "target": (2, 3)}),
        Family("looked_at", without("target"), SIZES, function="looked_at"),
        Family("swapped", without("source"), SIZES, function="swapped"),
        Family("copied", some_map, SIZES, function="copied", count=16),
        *(
            Family(f"{name}: the same words again", without(*left, draw=repeated_map), AGAIN, function=name, count=4)
            for name, left in (("looked_at", ("target",)), ("swapped", ("source",)), ("copied", ()))
        ),
        Family("copied: capital letters", capital_map, {"source": (1, 5)}, function="copied", count=4),
        Family("copied: unsure looks", unsure_map, {"source": (2, 6)}, function="copied", count=4),
    ),
    laws=(
        Law("questions about a map", "the map of README.md, read by the numbers", the_article),
        Law("copied, not only alike", "a copy looks at what it copies", not_by_spelling),
        Law("the axes that were given", "a map is drawn where it was asked for", three_axes),
    ),
    mistakes=(
        Mistake(
            "transposed",
            "The map is transposed. weights[t, s] has target words as rows: down the side, source words along the top. "
            "Swap neither the matrix nor the labels.",
            (
                {"draw": mistakes.transposed},
                {"draw": mistakes.cells_transposed},
                {"draw": mistakes.labels_transposed},
                {"looked_at": mistakes.read_by_column},
                {"swapped": mistakes.swaps_by_column},
            ),
        ),
        Mistake(
            "normalised_twice",
            "The rows are normalised once more. The weights have been through softmax: draw them as they are. A row "
            "that sums to less than 1 says something (local attention does that), and a row divided by its largest "
            "always looks certain.",
            (
                {"draw": mistakes.softmax_again},
                {"draw": mistakes.divided_by_largest},
                {"draw": mistakes.divided_by_sum},
            ),
        ),
        Mistake(
            "eos_dropped",
            "EOS was dropped without a word. Its row shows where the decoder looked when it decided to stop, its "
            "column how much light went there: what is left without it no longer adds up.",
            (
                {"draw": mistakes.eos_dropped},
                {"draw": mistakes.eos_row_dropped},
                {"draw": mistakes.eos_column_dropped},
                {"draw": mistakes.eos_dropped_and_renormalised},
            ),
        ),
        Mistake(
            "own_scale",
            "The map has a scale of its own: its largest weight is darkest, whatever it is. Give vmin=0 and vmax=1, "
            "so that two maps can be compared.",
            ({"draw": mistakes.own_scale},),
        ),
        Mistake(
            "upside_down",
            "The first target word is not on top, or the labels run against the rows. Sentences are read from the "
            "top: row 0 is the first line (imshow does that by itself; a pcolormesh needs axes.invert_yaxis()).",
            (
                {"draw": mistakes.upside_down},
                {"draw": mistakes.mesh_upside_down},
                {"draw": mistakes.labels_slipped},
            ),
        ),
        Mistake(
            "equals_swapped",
            "Two words that look at the same place have not changed places: *l'* and *oiseau* both look at *bird*. "
            "Wanted is a smaller place, not an equal one.",
            ({"swapped": mistakes.swaps_with_equals},),
        ),
        Mistake(
            "same_spelling",
            "You compare spellings only. A word was copied if it is spelled like the source word that it *looked at*.",
            ({"copied": mistakes.same_spelling},),
        ),
        Mistake(
            "eos_counted",
            "EOS is counted as a word here. It belongs on the map, but it can be neither swapped nor copied.",
            ({"swapped": mistakes.swaps_with_eos}, {"copied": mistakes.copies_with_eos}),
        ),
    ),
    alternatives=(
        {
            "draw": alternatives.as_mesh,
            "looked_at": alternatives.looked_at_by_loop,
            "swapped": alternatives.swapped_by_loop,
            "copied": alternatives.copied_by_loop,
        },
        {"draw": alternatives.bottom_up},
    ),
    praise="You can draw attention so that others can read it, and read what others draw.",
)
