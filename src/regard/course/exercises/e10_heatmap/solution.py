"""10 · Draw a heat-map of attention, and read it: a solution."""

from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray

EOS = "EOS"


def draw(axes: Axes, weights: Float[ndarray, "target source"], source: list[str], target: list[str]) -> None:
    """Source words along the columns, target words down the rows, one scale from 0 to 1."""
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source)
    axes.set_yticks(range(len(target)), target)
    axes.xaxis.tick_top()


def looked_at(weights: Float[ndarray, "target source"], source: list[str]) -> list[str]:
    """The source word that each row looks at most."""
    return [source[place] for place in weights.argmax(axis=1)]


def swapped(weights: Float[ndarray, "target source"], target: list[str]) -> list[tuple[str, str]]:
    """Neighbouring target words, in their order, whose source words stand the other way round; without EOS."""
    places = weights.argmax(axis=1)
    pairs = [(target[t], target[t + 1]) for t in range(len(target) - 1) if places[t + 1] < places[t]]
    return [pair for pair in pairs if EOS not in pair]


def copied(weights: Float[ndarray, "target source"], source: list[str], target: list[str]) -> list[str]:
    """Target words that are spelled like the source word they look at most; without EOS."""
    return [word for word, seen in zip(target, looked_at(weights, source), strict=True) if word == seen != EOS]
