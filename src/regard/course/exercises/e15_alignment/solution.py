"""15 · Word links, their error rate, and BLEU by length: a solution."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

Link = tuple[int, int]


def word_links(
    weights: Float[ndarray, "target source"], source_words: list[int | None], target_words: list[int | None]
) -> set[Link]:
    """(source word, target word), from 0: each target word with the source word it looks at most."""
    merged = np.zeros((len(target_words), 1 + max(word for word in source_words if word is not None)))
    for piece, word in enumerate(source_words):
        if word is not None:
            merged[:, word] += weights[:, piece]
    links = set()
    for target in {word for word in target_words if word is not None}:
        row = merged[[piece for piece, word in enumerate(target_words) if word == target]].mean(axis=0)
        links.add((int(row.argmax()), target))
    return links


def aer(predicted: set[Link], sure: set[Link], possible: set[Link]) -> float:
    """The alignment error rate, 0 is best; `possible` contains `sure`."""
    return 1 - (len(predicted & sure) + len(predicted & possible)) / (len(predicted) + len(sure))


def bleu_by_length(
    bleu: Callable[[list[str], list[str]], float],
    hypotheses: list[str],
    references: list[str],
    sources: list[str],
    edges: list[int],
) -> list[float | None]:
    """The corpus BLEU of each bin of source lengths; None where a bin is empty."""
    scores: list[float | None] = []
    for start, end in zip([0, *edges], [*edges, float("inf")], strict=True):
        inside = [number for number, source in enumerate(sources) if start <= len(source.split()) < end]
        some = [hypotheses[number] for number in inside], [references[number] for number in inside]
        scores.append(bleu(*some) if inside else None)
    return scores
