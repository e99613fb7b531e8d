"""Exercise 15: other correct ways."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from numpy import ndarray

Link = tuple[int, int]


def by_membership(weights: ndarray, source_words: list[int | None], target_words: list[int | None]) -> set[Link]:
    """Two products with matrices of zeros and ones."""

    def belongs(words: list[int | None]) -> ndarray:
        count = 1 + max(word for word in words if word is not None)
        return np.array([[float(word == one) for one in range(count)] for word in words])

    rows, columns = belongs(target_words), belongs(source_words)
    merged = (rows / rows.sum(axis=0)).T @ weights @ columns
    return {(int(source), target) for target, source in enumerate(merged.argmax(axis=1))}


def by_sums(weights: ndarray, source_words: list[int | None], target_words: list[int | None]) -> set[Link]:
    """The mean over target pieces and their sum have the same largest column."""
    totals: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, target in zip(weights.tolist(), target_words, strict=True):
        for weight, source in zip(row, source_words, strict=True):
            if target is not None and source is not None:
                totals[target][source] += weight
    return {(max(row, key=lambda source: row[source]), target) for target, row in totals.items()}


def aer_by_counting(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    right = sum(1 for link in predicted if link in sure) + sum(1 for link in predicted if link in possible)
    total = len(predicted) + len(sure)
    return (total - right) / total


def bleu_by_bisection(
    bleu: Callable[[list[str], list[str]], float],
    hypotheses: list[str],
    references: list[str],
    sources: list[str],
    edges: list[int],
) -> list[float | None]:
    bins: list[tuple[list[str], list[str]]] = [([], []) for _ in range(len(edges) + 1)]
    for hypothesis, reference, source in zip(hypotheses, references, sources, strict=True):
        some = bins[bisect_right(edges, len(source.split()))]
        some[0].append(hypothesis)
        some[1].append(reference)
    return [bleu(*some) if some[0] else None for some in bins]
