"""Exercise 14: wrong beams that people write."""

from collections.abc import Callable

from numpy import ndarray

Words = tuple[int, ...]
Model = Callable[[Words], ndarray]
Hypothesis = tuple[Words, float]


def _extend(model: Model, living: list[Hypothesis]) -> list[Hypothesis]:
    return [
        ((*words, word), score + float(value)) for words, score in living for word, value in enumerate(model(words))
    ]


def _ranked(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda one: one[1], reverse=True)


def _search(model: Model, width: int, eos: int, longest: int, living: list[Hypothesis]) -> list[Hypothesis]:
    finished: list[Hypothesis] = []
    for _ in range(longest):
        best = _ranked(_extend(model, living))[:width]
        finished += [one for one in best if one[0][-1] == eos]
        living = [one for one in best if one[0][-1] != eos]
    return _ranked(finished)


def duplicates(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    return _search(model, width, eos, longest, [((), 0.0)] * width)[:width]


def never_ends(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    living: list[Hypothesis] = [((), 0.0)]
    for _ in range(longest):
        living = _ranked(_extend(model, living))[:width]
    return living


def goes_on_after_eos(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    """Finished ones are set aside and extended all the same."""
    living: list[Hypothesis] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for _ in range(longest):
        living = _ranked(_extend(model, living))[:width]
        finished += [one for one in living if one[0][-1] == eos]
    return _ranked(finished)[:width]


def keeps_its_place(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    """Finished hypotheses stay in the beam and compete with the living."""
    beam: list[Hypothesis] = [((), 0.0)]
    for _ in range(longest):
        ended = [one for one in beam if one[0] and one[0][-1] == eos]
        living = [one for one in beam if not one[0] or one[0][-1] != eos]
        beam = _ranked(ended + _extend(model, living))[:width]
    return [one for one in beam if one[0][-1] == eos]


def stops_at_the_first(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    living: list[Hypothesis] = [((), 0.0)]
    for _ in range(longest):
        best = _ranked(_extend(model, living))[:width]
        finished = [one for one in best if one[0][-1] == eos]
        if finished:
            return finished
        living = best
    return []


def stops_when_enough(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    """`width` finished ones are enough for it, however good those still alive are."""
    living: list[Hypothesis] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for _ in range(longest):
        best = _ranked(_extend(model, living))[:width]
        finished += [one for one in best if one[0][-1] == eos]
        living = [one for one in best if one[0][-1] != eos]
        if len(finished) >= width:
            break
    return _ranked(finished)[:width]


def each_its_best(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    """After the first step each hypothesis only competes with itself."""
    living: list[Hypothesis] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for step in range(longest):
        if step == 0:
            best = _ranked(_extend(model, living))[:width]
        else:
            best = [_ranked(_extend(model, [one]))[0] for one in living]
        finished += [one for one in best if one[0][-1] == eos]
        living = [one for one in best if one[0][-1] != eos]
    return _ranked(finished)[:width]


def each_its_own_beam(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    """Each hypothesis keeps its `width` best extensions, so that the beam grows without end."""
    living: list[Hypothesis] = [((), 0.0)]
    finished: list[Hypothesis] = []
    for _ in range(longest):
        best = [new for one in living for new in _ranked(_extend(model, [one]))[:width]]
        finished += [one for one in best if one[0][-1] == eos]
        living = [one for one in best if one[0][-1] != eos and one[1] > float("-inf")]
    return _ranked(finished)[:width]


def ranked_by_mean(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    found = _search(model, width, eos, longest, [((), 0.0)])
    return sorted(found, key=lambda one: one[1] / len(one[0]), reverse=True)[:width]


def too_many(model: Model, width: int, eos: int, longest: int) -> list[Hypothesis]:
    return _search(model, width, eos, longest, [((), 0.0)])
