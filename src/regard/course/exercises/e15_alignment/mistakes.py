"""Exercise 15: wrong links, error rates and bins that people write."""

from collections.abc import Callable

import numpy as np
from numpy import ndarray

from regard.course.exercises.e15_alignment import solution

Link = tuple[int, int]
Bleu = Callable[[list[str], list[str]], float]
Words = list[int | None]


def counted_from_one(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    return {(source + 1, target + 1) for source, target in solution.word_links(weights, source_words, target_words)}


def turned_round(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    return {(target, source) for source, target in solution.word_links(weights, source_words, target_words)}


def pieces_as_words(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    """Links between pieces, numbered as pieces; EOS left out."""
    columns = [piece for piece, word in enumerate(source_words) if word is not None]
    rows = [piece for piece, word in enumerate(target_words) if word is not None]
    return {(columns[int(weights[row, columns].argmax())], row) for row in rows}


def every_piece_links(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    """Each piece by itself, its largest piece's word."""
    columns = [piece for piece, word in enumerate(source_words) if word is not None]
    links = set()
    for row, target in enumerate(target_words):
        source = source_words[columns[int(weights[row, columns].argmax())]]
        if target is not None and source is not None:
            links.add((source, target))
    return links


def first_piece_only(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    """The row of a word's first piece stands for the word."""
    firsts = [piece for piece, word in enumerate(target_words) if word is not None and word not in target_words[:piece]]
    return solution.word_links(weights[firsts], source_words, [target_words[piece] for piece in firsts])


def mean_over_source(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    counts = np.array([source_words.count(word) for word in source_words])
    return solution.word_links(weights / counts, source_words, target_words)


def eos_takes_part(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    """EOS is one more source word; a target word that looks there most gets no link."""
    last = 1 + max(word for word in source_words if word is not None)
    links = solution.word_links(weights, [last if word is None else word for word in source_words], target_words)
    return {link for link in links if link[0] != last}


def eos_linked(weights: ndarray, source_words: Words, target_words: Words) -> set[Link]:
    source_end = 1 + max(word for word in source_words if word is not None)
    target_end = 1 + max(word for word in target_words if word is not None)
    return solution.word_links(
        weights,
        [source_end if word is None else word for word in source_words],
        [target_end if word is None else word for word in target_words],
    )


def sure_and_possible_swapped(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return solution.aer(predicted, possible, sure)


def possible_in_denominator(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return 1 - (len(predicted & sure) + len(predicted & possible)) / (len(predicted) + len(possible))


def sure_only(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return 1 - 2 * len(predicted & sure) / (len(predicted) + len(sure))


def accuracy(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return 1 - solution.aer(predicted, sure, possible)


def percent(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    return 100 * solution.aer(predicted, sure, possible)


def mean_of_sentences(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    def mean(some: list[str], others: list[str]) -> float:
        return sum(bleu([one], [other]) for one, other in zip(some, others, strict=True)) / len(some)

    return solution.bleu_by_length(mean, hypotheses, references, sources, edges)


def length_of_hypothesis(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    return solution.bleu_by_length(bleu, hypotheses, references, hypotheses, edges)


def length_of_reference(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    return solution.bleu_by_length(bleu, hypotheses, references, references, edges)


def edge_below(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    """An edge still belongs to the bin below it."""
    return solution.bleu_by_length(bleu, hypotheses, references, sources, [edge + 1 for edge in edges])


def zero_for_empty(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    scores = solution.bleu_by_length(bleu, hypotheses, references, sources, edges)
    return [0.0 if score is None else score for score in scores]


def empty_left_out(
    bleu: Bleu, hypotheses: list[str], references: list[str], sources: list[str], edges: list[int]
) -> list[float | None]:
    scores = solution.bleu_by_length(bleu, hypotheses, references, sources, edges)
    return [score for score in scores if score is not None]
