"""Exercise 14: other correct ways."""

import heapq
from collections.abc import Callable

import numpy as np
from numpy import ndarray

Words = tuple[int, ...]
Model = Callable[[Words], ndarray]


def with_arrays(model: Model, width: int, eos: int, longest: int) -> list[tuple[Words, float]]:
    """All candidates in one matrix; stops early when no living hypothesis can still win."""
    living: list[Words] = [()]
    scores = np.zeros(1)
    finished: list[tuple[Words, float]] = []
    while living:
        matrix = scores[:, None] + np.stack([model(words) for words in living])
        order = np.argsort(-matrix, axis=None, kind="stable")[:width]
        rows, words = np.unravel_index(order, matrix.shape)
        grown = [((*living[row], int(word)), float(matrix[row, word])) for row, word in zip(rows, words, strict=True)]
        finished += [one for one in grown if one[0][-1] == eos and np.isfinite(one[1])]
        going = [one for one in grown if one[0][-1] != eos and np.isfinite(one[1]) and len(one[0]) < longest]
        finished = heapq.nlargest(width, finished, key=lambda one: one[1])
        if len(finished) == width:
            going = [one for one in going if one[1] > finished[-1][1]]
        living, scores = [one[0] for one in going], np.array([one[1] for one in going])
    return finished


def recursive(model: Model, width: int, eos: int, longest: int) -> list[tuple[Words, float]]:
    def grow(living: list[tuple[float, Words]], left: int) -> list[tuple[float, Words]]:
        if not living or not left:
            return []
        candidates = [
            (score + value, (*words, word))
            for score, words in living
            for word, value in enumerate(model(words).tolist())
            if value > -np.inf
        ]
        best = heapq.nlargest(width, candidates)
        ended = [one for one in best if one[1][-1] == eos]
        return ended + grow([one for one in best if one[1][-1] != eos], left - 1)

    found = sorted(grow([(0.0, ())], longest), reverse=True)[:width]
    return [(words, score) for score, words in found]
