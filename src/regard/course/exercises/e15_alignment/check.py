"""Exercise 15: hand-computed cases, and parity with the package's alignment and evaluation."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from regard.alignment import LinkRule, Links, WordAttention, score_alignment
from regard.course.assertions import Check
from regard.course.attempt import Attempt
from regard.course.exercise import Arguments, Family, Law, Mistake
from regard.course.exercises.e15_alignment import alternatives, mistakes
from regard.course.exercises.e15_alignment.corpus_bleu import corpus_bleu
from regard.course.slips import declare
from regard.evaluation import bins

Link = tuple[int, int]
Bleu = Callable[[list[str], list[str]], float]


def word_links(weights: ndarray, source_words: list[int | None], target_words: list[int | None]) -> set[Link]:
    sources, targets = (
        max((word for word in words if word is not None), default=-1) + 1 for words in (source_words, target_words)
    )
    looks = WordAttention.of(weights[None, None], source_words, target_words, counts=(sources, targets))
    return set(LinkRule().links(looks))


def aer(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return score_alignment([predicted], [Links.of(sure, possible)]).aer


def bleu_by_length(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    parts = [one.members for one in bins([len(source.split()) for source in sources], edges)]
    return [bleu([hypotheses[i] for i in part], [references[i] for i in part]) if part else None for part in parts]


def pieces(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Words of one to three pieces and EOS on both sides; sharp rows, so that there is something to find."""

    def side(words: int) -> list[int | None]:
        return [*(word for word in range(words) for _ in range(random.integers(1, sizes["pieces"] + 1))), None]

    source, target = side(sizes["source"]), side(sizes["target"])
    weights = np.exp(random.normal(size=(len(target), len(source))) * 1.5)
    return {
        "weights": weights / weights.sum(axis=1, keepdims=True),
        "source_words": source,
        "target_words": target,
    }


def links(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Some sure links, more possible ones, predictions from both and beyond; at least one of each."""
    grid = [(s, t) for s in range(sizes["source"]) for t in range(sizes["target"])]

    def some(share: float) -> set[Link]:
        chosen = {link for link in grid if random.random() < share}
        return chosen or {grid[int(random.integers(len(grid)))]}

    sure = some(0.3)
    return {"predicted": some(0.4), "sure": sure, "possible": sure | some(0.3)}


def no_links(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Nothing predicted: every sure link is missed."""
    return {**links(sizes, random), "predicted": set()}


WORDS = ["le", "chat", "noir", "dort", "sur", "un", "tapis", "et", "ne", "voit", "pas", "la", "souris"]


def corpus(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Hypotheses that differ from their references here and there; all three sides differ in length."""

    def sentence(length: int) -> list[str]:
        return [WORDS[number] for number in random.integers(len(WORDS), size=length)]

    def worse(words: list[str]) -> str:
        kept = [word if random.random() < 0.85 else "?" for word in words]
        return " ".join(kept[: len(kept) - int(random.integers(0, 2))])

    references = [sentence(int(random.integers(4, 14))) for _ in range(sizes["sentences"])]
    sources = [sentence(max(1, len(words) + int(random.integers(-2, 4)))) for words in references]
    return {
        "bleu": corpus_bleu,
        "hypotheses": [worse(words) for words in references],
        "references": [" ".join(words) for words in references],
        "sources": [" ".join(words) for words in sources],
        "edges": [6, 9, 30] if sizes["edges"] else [8],
    }


def on_the_edge(sizes: Mapping[str, int], random: Generator) -> Arguments:
    """Source lengths that lie exactly on an edge."""
    given = corpus({**sizes, "edges": 0}, random)
    sources = [" ".join(WORDS[: 4 + 2 * (number % 3)]) for number in range(sizes["sentences"])]
    return {**given, "sources": sources, "edges": [6, 8]}


def call_bleu(attempt: Attempt, given: Arguments) -> Any:
    """A name for each bin; numbers within a tolerance."""
    scores = attempt.bleu_by_length(**given)
    if not isinstance(scores, list | tuple):
        return scores
    return {f"bin {number}": score for number, score in enumerate(scores, 1)}


def shown_bleu(given: Arguments) -> list[str]:
    lengths = [len(source.split()) for source in given["sources"]]
    return [f"edges {given['edges']}, source lengths {lengths}"]


def by_hand(attempt: Attempt, check: Check, random: Generator) -> None:
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2), (2, 2)}
    cases: list[tuple[set[Link], float, str]] = [
        ({(0, 0), (1, 1)}, 0.0, "exactly the sure links: nothing wrong, nothing missed"),
        ({(0, 0), (1, 1), (1, 2), (2, 2)}, 0.0, "all possible links: nothing wrong, nothing missed"),
        ({(0, 0)}, 1 - 2 / 3, "one of two sure links: 1 − (1 + 1) / (1 + 2)"),
        ({(0, 0), (1, 1), (2, 0)}, 0.2, "both sure links and a wrong one: 1 − (2 + 2) / (3 + 2)"),
        ({(1, 2)}, 1 - 1 / 3, "a possible link that is not sure: 1 − (0 + 1) / (1 + 2)"),
        ({(2, 0), (2, 1)}, 1.0, "nothing right"),
    ]
    for predicted, wanted, why in cases:
        mine = attempt.aer(predicted, sure, possible)
        otherwise = "A case computed by hand comes out otherwise."
        check.same(float(mine), wanted, otherwise, f"A = {sorted(predicted)}", why, tolerance=1e-9)


def readme(attempt: Attempt, check: Check, random: Generator) -> None:
    weights = np.array(
        [
            [0.80, 0.05, 0.05, 0.05, 0.05],
            [0.10, 0.45, 0.30, 0.10, 0.05],
            [0.05, 0.05, 0.05, 0.80, 0.05],
            [0.05, 0.05, 0.05, 0.70, 0.15],
            [0.05, 0.05, 0.05, 0.05, 0.80],
        ]
    )
    mine = attempt.word_links(weights, [0, 1, 1, 2, None], [0, 1, 2, 2, None])
    check.same(sorted(mine), [(0, 0), (1, 1), (2, 2)], "The picture of README.md comes out otherwise.")
    split = np.array([[0.3, 0.4, 0.3, 0.0]])  # two halves of a word together beat the single word between EOS and them
    mine = attempt.word_links(split, [0, 1, 0, None], [0])
    check.same(sorted(mine), [(0, 0)], "Looking at two pieces of a word is looking at the word: add them up.")


PIECES = {"source": (1, 4), "target": (1, 4), "pieces": (1, 3)}

EXERCISE = declare(
    __file__,
    reference={"word_links": word_links, "aer": aer, "bleu_by_length": bleu_by_length},
    families=(
        Family("word_links", pieces, PIECES, function="word_links", outputs=("links",), count=20),
        Family("aer", links, {"source": (2, 4), "target": (2, 4)}, function="aer", outputs=("AER",), tolerance=1e-9),
        Family(
            "aer: no links at all",
            no_links,
            {"source": (2, 4), "target": (2, 4)},
            function="aer",
            outputs=("AER",),
            count=3,
            tolerance=1e-9,
        ),
        Family(
            "bleu_by_length",
            corpus,
            {"sentences": (2, 9), "edges": (0, 1)},
            function="bleu_by_length",
            call=call_bleu,
            describe=shown_bleu,
            count=4,
            tolerance=1e-6,
        ),
        Family(
            "bleu_by_length: lengths on an edge",
            on_the_edge,
            {"sentences": (3, 6)},
            function="bleu_by_length",
            call=call_bleu,
            describe=shown_bleu,
            count=2,
            tolerance=1e-6,
        ),
    ),
    laws=(
        Law("by hand", "six small alignments, counted with a pencil", by_hand),
        Law("the picture", "the pieces of README.md become the words beside them", readme),
    ),
    mistakes=(
        Mistake(
            "index_from_one",
            "Your words are counted from 1. Here, as in Python, the first word is word 0. (Alignment files know both: "
            "the first thing to check about any gold alignment.)",
            ({"word_links": mistakes.counted_from_one},),
        ),
        Mistake(
            "turned_round",
            "Your links are (target, source); wanted is (source word, target word).",
            ({"word_links": mistakes.turned_round},),
        ),
        Mistake(
            "pieces_not_merged",
            "The pieces are not merged into words. Add up the columns of a source word's pieces, average the rows of a "
            "target word's, and only then look for the largest: one link for each target word.",
            (
                {"word_links": mistakes.pieces_as_words},
                {"word_links": mistakes.every_piece_links},
                {"word_links": mistakes.first_piece_only},
            ),
        ),
        Mistake(
            "mean_over_source",
            "You average over the pieces of a source word, so a word in three pieces looks three times dimmer. Add "
            "them up: looking at any piece is looking at the word.",
            ({"word_links": mistakes.mean_over_source},),
        ),
        Mistake(
            "eos",
            "EOS takes part in the linking. It is no word: leave its column and its row out before looking for the "
            "largest weight.",
            ({"word_links": mistakes.eos_takes_part}, {"word_links": mistakes.eos_linked}),
        ),
        Mistake(
            "sure_and_possible",
            "S and P are mixed up. |A ∩ S| and |A ∩ P| both stand above, but below it is |A| + |S|: only a missing "
            "*sure* link is an error, and only a link that is not even *possible* is wrong.",
            (
                {"aer": mistakes.sure_and_possible_swapped},
                {"aer": mistakes.possible_in_denominator},
                {"aer": mistakes.sure_only},
            ),
        ),
        Mistake(
            "not_an_error_rate",
            "This is not the rate of errors from 0 (perfect) to 1: take 1 minus the fraction, and no per cent.",
            ({"aer": mistakes.accuracy}, {"aer": mistakes.percent}),
        ),
        Mistake(
            "mean_of_sentences",
            "You average the BLEU of single sentences. BLEU counts n-grams over a whole corpus: gather the sentences "
            "of a bin and call `bleu` once.",
            ({"bleu_by_length": mistakes.mean_of_sentences},),
        ),
        Mistake(
            "wrong_length",
            "The sentences are sorted by another length than the source's. A bad translation may be short; what it "
            "should be judged by is how long the sentence to translate was.",
            (
                {"bleu_by_length": mistakes.length_of_hypothesis},
                {"bleu_by_length": mistakes.length_of_reference},
            ),
        ),
        Mistake(
            "edge",
            "A sentence whose length is exactly an edge is in the wrong bin: an edge begins a new bin.",
            ({"bleu_by_length": mistakes.edge_below},),
        ),
        Mistake(
            "empty_bin",
            "An empty bin has no BLEU: give None, so that a picture has a gap there. 0 would say that every word was "
            "wrong, and leaving it out would shift all later bins.",
            ({"bleu_by_length": mistakes.zero_for_empty}, {"bleu_by_length": mistakes.empty_left_out}),
        ),
    ),
    alternatives=(
        {
            "word_links": alternatives.by_membership,
            "aer": alternatives.aer_by_counting,
            "bleu_by_length": alternatives.bleu_by_bisection,
        },
        {"word_links": alternatives.by_sums},
    ),
    praise="You can now say how good a heat-map is, in numbers that other people's systems have too.",
)
