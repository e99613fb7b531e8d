"""Rules found by measurement: on a development set whose gold is known, or by agreement of two directions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from regard.alignment import LinkRule, Links, Tuned, TunedPair, agree, tune, tune_together
from regard.alignment.tune import Taken
from regard.lab.align import METHODS, Direction
from regard.lab.sides import Sides
from regard.runtime.aligner import Aligner, Look
from regard.runtime.guided import guided_shift
from regard.runtime.posterior import Posterior, explained
from regard.text.errors import InputError

TUNING = 1000
"""Pairs that agreement is looked for on, if there are more."""
PRIORS = (0.1, 0.3, 0.5, 1.0, 1.5)
"""The powers of attention that `--posterior tune` tries."""


@dataclass(frozen=True)
class Best:
    """What measured best: rules for each direction alone, for both together, and the posterior they are read from."""

    alone: dict[str, Tuned]
    together: TunedPair | None
    posterior: Posterior | None

    @property
    def aer(self) -> float:
        return self.alone["forward"].aer if self.together is None else self.together.aer


def tune_directions(
    forward: Direction,
    backward: Direction | None,
    sides: Sides,
    gold: Sequence[Links],
    methods: Sequence[str] = METHODS,
    posteriors: Sequence[Posterior | None] | None = None,
) -> list[Best]:
    """Each direction tuned alone, for its heads and rows, and then both together, for what is symmetrised.

    One result for each of `posteriors`, the best first; for the aligners' own if none are named.
    """
    asked = [forward.aligner.posterior] if posteriors is None else list(posteriors)
    ours = _taken(forward, sides, asked)
    theirs = None if backward is None else _taken(backward, Sides(sides.targets, sides.sources), asked)
    found = []
    for one in asked:
        both = None if theirs is None else theirs[one]
        found.append(_tune(ours[one], both, gold, methods, one))
    return sorted(found, key=lambda best: best.aer)


def _tune(
    ours: dict[int, Taken],
    theirs: dict[int, Taken] | None,
    gold: Sequence[Links],
    methods: Sequence[str],
    posterior: Posterior | None,
) -> Best:
    known = _known(gold, *([ours] if theirs is None else [ours, theirs]))
    truth, left = [gold[one] for one in known], [ours[one] for one in known]
    alone = {"forward": tune(left, truth)}
    if theirs is None:
        return Best(alone, None, posterior)
    right = [theirs[one] for one in known]
    alone["backward"] = tune(right, [links.flipped() for links in truth])
    rules = alone["forward"].rule, alone["backward"].rule
    return Best(alone, tune_together(left, right, truth, rules, methods), posterior)


@dataclass(frozen=True)
class Agreed:
    """Rules for both directions, what they are read from, and the share of their links that the two disagree on."""

    forward: LinkRule
    backward: LinkRule
    posterior: Posterior | None
    apart: float


def tune_to_agree(
    forward: Direction, backward: Direction, sides: Sides, posteriors: Sequence[Posterior | None] | None = None
) -> list[Agreed]:
    """Rules that make both directions agree most, for where there is no gold: one result for each of `posteriors`, the
    one that agrees best first; for the aligners' own if none are named.
    """
    some = Sides(sides.sources[:TUNING], sides.targets[:TUNING])
    asked = [forward.aligner.posterior] if posteriors is None else list(posteriors)
    ours = _taken(forward, some, asked)
    theirs = _taken(backward, Sides(some.targets, some.sources), asked)
    found = []
    for one in asked:
        known = sorted(ours[one].keys() & theirs[one].keys())
        if not known:
            raise InputError("every pair has a blank side: there is nothing to tune on")
        left, right, apart = agree([ours[one][number] for number in known], [theirs[one][number] for number in known])
        found.append(Agreed(left, right, one, apart))
    return sorted(found, key=lambda agreed: agreed.apart)


def _taken(
    direction: Direction, sides: Sides, posteriors: Sequence[Posterior | None]
) -> dict[Posterior | None, dict[int, Taken]]:
    """What tuning needs of every pair; attention and each kind of evidence are computed once for all the powers."""
    attention = _looks(direction, sides, None)
    kinds = dict.fromkeys(one.evidence for one in posteriors if one is not None)
    evidence = {kind: _looks(direction, sides, Posterior(0.0, kind)) for kind in kinds}
    shift = guided_shift(direction.aligner.bundle)

    def looks(posterior: Posterior | None) -> Iterator[tuple[int, Look]]:
        for number, look in attention.items():
            if posterior is None:
                yield number, look
            else:
                likely = evidence[posterior.evidence][number].attention
                yield number, replace(look, attention=explained(look.attention, likely, posterior.prior, shift))

    return {one: {number: look.taken() for number, look in looks(one)} for one in posteriors}


def _looks(direction: Direction, sides: Sides, posterior: Posterior | None) -> dict[int, Look]:
    aligner = Aligner(direction.aligner.bundle, spaces=direction.aligner.spaces, posterior=posterior)
    return dict(aligner.look(sides.sources, sides.targets))


def _known(gold: Sequence[Links], *taken: dict[int, Taken]) -> list[int]:
    """The pairs that were looked at and whose gold says something."""
    known = [number for number, links in enumerate(gold) if links.possible and all(number in one for one in taken)]
    if not known:
        raise InputError("the development set holds no gold link: there is nothing to tune on")
    return known
