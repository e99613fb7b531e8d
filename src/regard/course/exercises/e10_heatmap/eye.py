"""Exercise 10: what a reader sees on the axes, cell by cell. Runs where the learner's code runs."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray

from regard.course.assertions import Broken
from regard.course.attempt import Attempt


def look(attempt: Attempt, weights: ndarray, source: list[str], target: list[str]) -> dict[str, Any]:
    """Let the attempt draw, and look at what is there."""
    axes = Figure().add_subplot()
    attempt.draw(axes, weights, source, target)
    return seen(axes)


def beside_other_axes(attempt: Attempt, weights: ndarray, source: list[str], target: list[str]) -> tuple[int, int]:
    """How many pictures are on axes that were not given, and on those that were."""
    figure = Figure()
    first, second = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    attempt.draw(second, weights, source, target)
    return len(first.images) + len(first.collections), len(second.images) + len(second.collections)


def seen(axes: Axes) -> dict[str, Any]:
    """The labels as they are read, the number under each pair of them, and the ends of the scale."""
    pictures = [*axes.images, *(one for one in axes.collections if one.get_array() is not None)]
    if len(pictures) != 1:
        number = f"{len(pictures)} pictures" if pictures else "no picture"
        raise Broken(f"draw() left {number} on the axes it was given, wanted one: call axes.imshow(...) once.")
    axes.autoscale_view()
    columns = _labels(axes.get_xticks(), axes.get_xticklabels(), lambda x: axes.transData.transform((x, 0))[0])
    rows = _labels(axes.get_yticks(), axes.get_yticklabels(), lambda y: -axes.transData.transform((0, y))[1])
    low, high = pictures[0].get_clim()
    cells = [[_under(pictures[0], x, y) for x, _ in columns] for y, _ in rows]
    return {
        "the rows, from the top": [text for _, text in rows],
        "the columns, from the left": [text for _, text in columns],
        "the cells": np.array(cells).reshape(len(rows), len(columns)),
        "the scale": [round(float(low), 3), round(float(high), 3)],
    }


def _labels(places: Any, texts: Any, order: Any) -> list[tuple[float, str]]:
    """Ticks that say something, in the order in which they are seen."""
    ticks = [(float(place), text.get_text()) for place, text in zip(places, texts, strict=False)]
    return sorted((tick for tick in ticks if tick[1]), key=lambda tick: float(order(tick[0])))


def _under(picture: Any, x: float, y: float) -> float:
    """The number of the cell in which this point lies; NaN outside the picture."""
    array = np.ma.filled(picture.get_array(), np.nan)
    if hasattr(picture, "get_extent"):
        left, right, bottom, top = picture.get_extent()
        first, last = (bottom, top) if picture.origin == "lower" else (top, bottom)
        across, down = (x - left) / (right - left), (y - first) / (last - first)
        row, column = int(np.floor(down * array.shape[0])), int(np.floor(across * array.shape[1]))
    else:
        corners = picture.get_coordinates()
        array = array.reshape(corners.shape[0] - 1, corners.shape[1] - 1)
        row = int(np.searchsorted(corners[:, 0, 1], y, side="right")) - 1
        column = int(np.searchsorted(corners[0, :, 0], x, side="right")) - 1
    inside = 0 <= row < array.shape[0] and 0 <= column < array.shape[1]
    return float(array[row, column]) if inside else float("nan")
