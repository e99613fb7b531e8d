"""Exercise 10: wrong maps and wrong readings."""

import numpy as np
from matplotlib.axes import Axes
from numpy import ndarray

EOS = "EOS"


def _draw(axes: Axes, weights: ndarray, columns: list[str], rows: list[str]) -> None:
    axes.imshow(weights, vmin=0, vmax=1)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)


def transposed(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights.T, target, source)


def cells_transposed(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights.T, source, target)


def labels_transposed(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights, target, source)


def softmax_again(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    exponentials = np.exp(weights)
    _draw(axes, exponentials / exponentials.sum(axis=1, keepdims=True), source, target)


def divided_by_largest(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights / weights.max(axis=1, keepdims=True), source, target)


def divided_by_sum(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights / weights.sum(axis=1, keepdims=True), source, target)


def eos_dropped(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights[:-1, :-1], source[:-1], target[:-1])


def eos_row_dropped(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights[:-1], source, target[:-1])


def eos_column_dropped(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    _draw(axes, weights[:, :-1], source[:-1], target)


def eos_dropped_and_renormalised(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    inside = weights[:-1, :-1]
    _draw(axes, inside / inside.sum(axis=1, keepdims=True), source[:-1], target[:-1])


def own_scale(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    axes.imshow(weights)
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(len(target)), target)


def upside_down(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    axes.imshow(weights, vmin=0, vmax=1, origin="lower")
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(len(target)), target)


def mesh_upside_down(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    axes.pcolormesh(weights, vmin=0, vmax=1)
    axes.set_xticks([place + 0.5 for place in range(len(source))], source)
    axes.set_yticks([place + 0.5 for place in range(len(target))], target)


def labels_slipped(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    """The labels of the rows are written from the bottom, the rows are not."""
    _draw(axes, weights, source, target[::-1])


def read_by_column(weights: ndarray, source: list[str]) -> list[str]:
    return [source[int(place) % len(source)] for place in weights.argmax(axis=0)]


def swaps_by_column(weights: ndarray, target: list[str]) -> list[tuple[str, str]]:
    places = weights.argmax(axis=0)[: len(target)]
    pairs = [(target[t], target[t + 1]) for t in range(len(places) - 1) if places[t + 1] < places[t]]
    return [pair for pair in pairs if EOS not in pair]


def swaps_with_equals(weights: ndarray, target: list[str]) -> list[tuple[str, str]]:
    places = weights.argmax(axis=1)
    pairs = [(target[t], target[t + 1]) for t in range(len(target) - 1) if places[t + 1] <= places[t]]
    return [pair for pair in pairs if EOS not in pair]


def swaps_with_eos(weights: ndarray, target: list[str]) -> list[tuple[str, str]]:
    places = weights.argmax(axis=1)
    return [(target[t], target[t + 1]) for t in range(len(target) - 1) if places[t + 1] < places[t]]


def same_spelling(weights: ndarray, source: list[str], target: list[str]) -> list[str]:
    """Spelled alike, wherever the decoder looked."""
    return [word for word in target if word in source and word != EOS]


def copies_with_eos(weights: ndarray, source: list[str], target: list[str]) -> list[str]:
    return [word for row, word in zip(weights, target, strict=True) if source[int(row.argmax())] == word]
