"""Exercise 10: other correct ways."""

from matplotlib.axes import Axes
from numpy import ndarray

EOS = "EOS"


def as_mesh(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    """Cells from corner to corner, ticks in their middles; a mesh grows upwards, so the axis is turned."""
    axes.pcolormesh(weights, vmin=0, vmax=1)
    axes.invert_yaxis()
    axes.set_xticks([place + 0.5 for place in range(len(source))], source, rotation=45)
    axes.set_yticks([place + 0.5 for place in range(len(target))], target)


def bottom_up(axes: Axes, weights: ndarray, source: list[str], target: list[str]) -> None:
    """Everything reversed twice."""
    axes.imshow(weights[::-1], vmin=0.0, vmax=1.0, origin="lower", aspect="auto")
    axes.set_yticks(range(len(target)))
    axes.set_yticklabels(target[::-1])
    axes.set_xticks(range(len(source)))
    axes.set_xticklabels(source)


def looked_at_by_loop(weights: ndarray, source: list[str]) -> list[str]:
    return [max(zip(row, source, strict=True), key=lambda cell: float(cell[0]))[1] for row in weights]


def swapped_by_loop(weights: ndarray, target: list[str]) -> list[tuple[str, str]]:
    found, before = [], None
    for word, row in zip(target, weights.tolist(), strict=True):
        now = (word, row.index(max(row)))
        if before is not None and now[1] < before[1] and EOS not in (word, before[0]):
            found.append((before[0], word))
        before = now
    return found


def copied_by_loop(weights: ndarray, source: list[str], target: list[str]) -> list[str]:
    words = []
    for row, word in enumerate(target):
        if word != EOS and source[int(weights[row].argmax())] == word:
            words.append(word)
    return words
