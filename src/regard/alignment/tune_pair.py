"""Tunes both directions jointly: thresholds that are best for each alone are rarely best after symmetrisation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.alignment.extract import links_in
from regard.alignment.links import Link, Links
from regard.alignment.rule import LinkRule
from regard.alignment.score import score_alignment
from regard.alignment.symmetrise import PRODUCT, WAYS, product, symmetrise
from regard.alignment.tune import GAIN, ShiftedAttention

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3)
ARGMAX_THRESHOLDS = (0.2, 0.5)
"""Thresholds tried with argmax."""
MOST = 200
"""At most this many sentences are used, because every pair of rules is symmetrised with every method."""
PRODUCT_THRESHOLDS = (0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.35, 0.4, 0.5)
"""Thresholds tried for the product of both directions' weights."""


@dataclass(frozen=True)
class TunedPair:
    """A rule for each direction, how to symmetrise them, and the alignment error rate that this gives."""

    forward: LinkRule
    backward: LinkRule
    method: str
    aer: float


def tune_pair(
    forward: Sequence[ShiftedAttention],
    backward: Sequence[ShiftedAttention],
    gold: Sequence[Links],
    rules: tuple[LinkRule, LinkRule],
    methods: Sequence[str] = WAYS,
) -> TunedPair:
    """Search thresholds and the symmetrisation; heads and shifts are those of `rules`, tuned for each direction alone.

    `backward` attends from target to source. Thresholds other than those of `rules` must improve AER by `GAIN`.
    """
    if not len(forward) == len(backward) == len(gold) or not gold:
        raise ValueError(
            f"{len(forward)} sentences forward, {len(backward)} backward, {len(gold)} gold: tuning needs the same ones"
        )
    gold = gold[:MOST]
    ours = [(rule, _links(rule, forward[:MOST], turned=False)) for rule in _candidates(rules[0])]
    theirs = [(rule, _links(rule, backward[:MOST], turned=True)) for rule in _candidates(rules[1])]
    found = [
        TunedPair(one, other, method, _error(left, right, gold, method))
        for one, left in ours
        for other, right in theirs
        for method in methods
        if method != PRODUCT
    ]
    if PRODUCT in methods:
        found += _products(forward[:MOST], backward[:MOST], gold, rules)
    best = min(found, key=lambda one: one.aer)
    alone = min((one for one in found if (one.forward, one.backward) == rules), key=lambda one: one.aer, default=best)
    return best if best.aer <= alone.aer - GAIN else alone


def _products(
    forward: Sequence[ShiftedAttention],
    backward: Sequence[ShiftedAttention],
    gold: Sequence[Links],
    rules: tuple[LinkRule, LinkRule],
) -> list[TunedPair]:
    """One candidate for each threshold of the product; both rules get the threshold."""
    ours, theirs = rules
    pairs = [
        (ours.matrix(one[ours.shift]), theirs.matrix(other[theirs.shift]))
        for one, other in zip(forward, backward, strict=True)
    ]
    found = []
    for threshold in PRODUCT_THRESHOLDS:
        aer = score_alignment([links_in(product(*both, threshold)) for both in pairs], gold).aer
        one, other = (replace(rule, method="threshold", threshold=threshold, null=False) for rule in rules)
        found.append(TunedPair(one, other, PRODUCT, aer))
    return found


def _candidates(rule: LinkRule) -> list[LinkRule]:
    """The rule itself first, then the same heads and shift with every other method and threshold."""
    plain = replace(rule, method="argmax", threshold=None, null=False)
    others = [plain, replace(plain, null=True)]
    others += [replace(plain, threshold=threshold) for threshold in ARGMAX_THRESHOLDS]
    others += [replace(plain, method="threshold", threshold=threshold) for threshold in THRESHOLDS]
    return list(dict.fromkeys([rule, *others]))


def _links(rule: LinkRule, sentences: Sequence[ShiftedAttention], *, turned: bool) -> list[frozenset[Link]]:
    found = (rule.links(one[rule.shift]) for one in sentences)
    return [frozenset((t, s) for s, t in links) if turned else links for links in found]


def _error(
    left: Sequence[frozenset[Link]], right: Sequence[frozenset[Link]], gold: Sequence[Links], method: str
) -> float:
    return score_alignment([symmetrise(a, b, method) for a, b in zip(left, right, strict=True)], gold).aer
