"""A wrong answer that is something known: zeros, one of the arguments, another part of the right answer."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy import ndarray

from regard.course.outcome import equal
from regard.course.trial import Trial

Value = tuple[str, Callable[[Trial], list[ndarray]]]


def known_values(wrong: list[Trial]) -> list[str]:
    """The first sentence that is true of the first wrong part on every one of these inputs."""
    parts = [trial.difference for trial in wrong]
    if any(one is None or one.yours is None or one.wanted is None for one in parts):
        return []
    mine = [_array(one.yours.value) for one in parts if one is not None and one.yours is not None]
    want = [one.wanted.value for one in parts if one is not None and one.wanted is not None]
    if any(array is None or not array.size for array in mine):
        return []
    arrays = [array for array in mine if array is not None]
    if all(not array.any() for array in arrays) and all(isinstance(one, ndarray) and one.any() for one in want):
        return ["Your answer is 0 everywhere: it is made (np.zeros, torch.zeros) and nothing is written into it, or it "
                "is multiplied by 0."]  # fmt: skip
    found = _same_as(wrong, arrays)
    return [found] if found else []


def lost_precision(trials: list[Trial]) -> str:
    """Answers that are right, but float32 where the right ones are float64: a law may need all the digits."""
    for trial in trials:
        for mine, want in trial.parts:
            if not isinstance(mine.value, ndarray) or not isinstance(want.value, ndarray):
                continue
            have, need = mine.value.dtype, want.value.dtype
            if have.kind == need.kind == "f" and have.itemsize < need.itemsize:
                return f"Your answer is {have}, wanted is {need}: digits are lost. Keep the dtype of the input."
    return ""


def _same_as(wrong: list[Trial], mine: list[ndarray]) -> str:
    ways = [dict(_candidates(trial)) for trial in wrong]
    for name in ways[0]:
        if max(array.size for array in mine) > 1 and all(
            name in way and way[name].shape == array.shape and equal(array.astype(float), way[name], 1e-5)
            for way, array in zip(ways, mine, strict=True)
        ):
            return f"You return {name}: something is left out, or another variable is returned than you meant."
    return ""


def _candidates(trial: Trial) -> Iterator[tuple[str, ndarray]]:
    first = trial.difference.wanted.name if trial.difference and trial.difference.wanted else ""
    for _, leaf in trial.parts:
        value = _array(leaf.value)
        if value is not None and leaf.name != first:
            yield f"what belongs in another place, {leaf.name.removeprefix('the ')}", value.astype(float)
    for name, given in trial.arguments.items():
        value = _array(given)
        if value is None or not value.size:
            continue
        value = value.astype(float)
        yield f"the argument `{name}` as it came", value
        if value.ndim:
            shifted = np.exp(value - value.max(axis=-1, keepdims=True))
            yield f"the softmax of `{name}`", shifted / shifted.sum(axis=-1, keepdims=True)
        yield f"exp() of `{name}`", np.exp(value)
        yield f"tanh of `{name}`", np.tanh(value)


def _array(value: object) -> ndarray | None:
    """Numbers as an array; None for anything else."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return value if isinstance(value, ndarray) and value.dtype.kind in "biuf" else None
