"""Find the rules that extract links best: on a development set with gold links, or by agreement of two directions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from regard.alignment import LinkRule, Links, Tuned, agree, tune, tune_pair
from regard.alignment.symmetrise import WAYS
from regard.alignment.tune import ShiftedAttention
from regard.lab.align_corpus import Direction
from regard.lab.parallel import ParallelText
from regard.runtime.aligner import PairAttention
from regard.runtime.guided import guided_shift
from regard.runtime.posterior import Posterior, explained
from regard.text.input_error import InputError

PAIRS = 1000
"""Largest number of pairs on which agreement is measured."""
Matrices = dict[int, ShiftedAttention]
"""The attention of each pair, for each shift: the input of tuning."""


@dataclass(frozen=True)
class Tuning:
    """The best rules for one posterior (None: attention itself)."""

    posterior: Posterior | None
    error: float
    """Alignment error rate on the development set; without gold, the share of links that the directions disagree on."""
    forward: LinkRule
    backward: LinkRule | None = None
    joined: tuple[LinkRule, LinkRule] | None = None
    """The rules for symmetrised links, found with gold."""
    symmetrise: str | None = None
    alone: dict[str, Tuned] = field(default_factory=dict)
    """The tried rules of each direction, scored with gold."""


def tune_with_gold(
    forward: Direction,
    backward: Direction | None,
    text: ParallelText,
    gold: Sequence[Links],
    methods: Sequence[str] = WAYS,
    posteriors: Sequence[Posterior | None] = (None,),
) -> list[Tuning]:
    """Tune each direction alone, then both for symmetrised links; one result for each posterior, the best first."""
    ours = _matrices(forward, text, posteriors)
    theirs = None if backward is None else _matrices(backward, text.flipped(), posteriors)
    found = [_tune(one, ours[one], None if theirs is None else theirs[one], gold, methods) for one in posteriors]
    return sorted(found, key=lambda one: one.error)


def _tune(
    posterior: Posterior | None,
    ours: Matrices,
    theirs: Matrices | None,
    gold: Sequence[Links],
    methods: Sequence[str],
) -> Tuning:
    known = [
        number
        for number, links in enumerate(gold)
        if links.possible and number in ours and (theirs is None or number in theirs)
    ]
    if not known:
        raise InputError("the development set holds no gold link: there is nothing to tune on")
    truth, left = [gold[one] for one in known], [ours[one] for one in known]
    first = tune(left, truth)
    if theirs is None:
        return Tuning(posterior, first.aer, first.rule, alone={"forward": first})
    right = [theirs[one] for one in known]
    second = tune(right, [links.flipped() for links in truth])
    both = tune_pair(left, right, truth, (first.rule, second.rule), methods)
    alone = {"forward": first, "backward": second}
    joined = both.forward, both.backward
    return Tuning(posterior, both.aer, first.rule, second.rule, joined, both.method, alone)


def tune_by_agreement(
    forward: Direction,
    backward: Direction,
    text: ParallelText,
    posteriors: Sequence[Posterior | None] = (None,),
) -> list[Tuning]:
    """Rules that make both directions agree most, without gold; one result for each posterior, the best first."""
    text = text.first(PAIRS)
    ours, theirs = _matrices(forward, text, posteriors), _matrices(backward, text.flipped(), posteriors)
    found = []
    for one in posteriors:
        known = sorted(ours[one].keys() & theirs[one].keys())
        if not known:
            raise InputError("every pair has a blank side: there is nothing to tune on")
        left, right, apart = agree([ours[one][number] for number in known], [theirs[one][number] for number in known])
        found.append(Tuning(one, apart, left, right))
    return sorted(found, key=lambda one: one.error)


def _matrices(
    direction: Direction, text: ParallelText, posteriors: Sequence[Posterior | None]
) -> dict[Posterior | None, Matrices]:
    """The matrices of each posterior; attention and each kind of evidence are computed once for all priors."""
    attention = _looks(direction, text, None)
    kinds = dict.fromkeys(one.evidence for one in posteriors if one is not None)
    evidence = {kind: _looks(direction, text, Posterior(0.0, kind)) for kind in kinds}
    shift = guided_shift(direction.aligner.bundle)

    def looks(posterior: Posterior | None) -> Iterator[tuple[int, PairAttention]]:
        for number, look in attention.items():
            if posterior is None:
                yield number, look
            else:
                likely = evidence[posterior.evidence][number].attention
                yield number, replace(look, attention=explained(look.attention, likely, posterior.prior, shift))

    return {one: {number: look.taken() for number, look in looks(one)} for one in posteriors}


def _looks(direction: Direction, text: ParallelText, posterior: Posterior | None) -> dict[int, PairAttention]:
    aligner = replace(direction.aligner, posterior=posterior)
    return dict(aligner.look(text.sources, text.targets))
