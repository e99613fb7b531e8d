"""Searches the heads, shift and threshold with the lowest alignment error rate on sentences with gold links.

Two directions are then tuned together: thresholds that are best for each alone are rarely best after symmetrisation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from regard.alignment.extract import links_in
from regard.alignment.links import Link, Links
from regard.alignment.rule import Head, LinkRule, WordAttention
from regard.alignment.score import score_alignment
from regard.alignment.symmetrise import PRODUCT, WAYS, product, symmetrise

SHIFTS = (-1, 0, 1)
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
MOST_HEADS = 6
GAIN = 5e-4
"""The improvement of the error rate that another head or a threshold must bring; less is noise."""

PAIR_THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3)
PAIR_ARGMAX_THRESHOLDS = (0.2, 0.5)
"""Thresholds that two directions try together: with the method threshold, and with argmax."""
PRODUCT_THRESHOLDS = (0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.35, 0.4, 0.5)
"""Thresholds tried for the product of both directions' weights."""
MOST = 200
"""At most this many sentences are used, because every pair of rules is symmetrised with every method."""

ShiftedAttention = Mapping[int, WordAttention]
"""One sentence's attention between words, for each shift."""
Mask = Bool[np.ndarray, "_target _source"]


@dataclass(frozen=True)
class RuleTrial:
    """One rule and its alignment error rate on the development sentences."""

    rule: LinkRule
    aer: float


@dataclass(frozen=True)
class Tuned:
    """The best rule, its error rate, and all trials."""

    rule: LinkRule
    aer: float
    tried: tuple[RuleTrial, ...]

    def by_shift(self) -> dict[int, float]:
        """The lowest error rate of any head or mean of heads at each shift, before thresholds."""
        plain = [one for one in self.tried if one.rule.method == "argmax" and one.rule.threshold is None]
        shifts = sorted({one.rule.shift for one in plain})
        return {shift: min(one.aer for one in plain if one.rule.shift == shift) for shift in shifts}


Attempt = Callable[[LinkRule], RuleTrial]


def shifted_attention(
    attention: Float[np.ndarray, "layer head step place"],
    source_words: Sequence[int | None],
    target_words: Sequence[int | None],
    counts: tuple[int, int],
) -> dict[int, WordAttention]:
    """One sentence's attention between words, for each shift: the input of `tune`."""
    return {
        shift: WordAttention.of(attention, source_words, target_words, counts=counts, shift=shift) for shift in SHIFTS
    }


def tune(sentences: Sequence[ShiftedAttention], gold: Sequence[Links]) -> Tuned:
    """The rule with the lowest alignment error rate.

    First every single head, the mean of each layer and of all, at every shift; then heads are added to the best while
    the error rate falls; then thresholds, and EOS as the target of words without a counterpart.
    """
    if len(sentences) != len(gold) or not gold:
        raise ValueError(f"{len(sentences)} sentences for {len(gold)} gold alignments: tuning needs one for each")
    masks = [_masks(links, next(iter(one.values()))) for links, one in zip(gold, sentences, strict=True)]
    tried: list[RuleTrial] = []

    def attempt(rule: LinkRule) -> RuleTrial:
        tried.append(RuleTrial(rule, _error(rule, sentences, masks)))
        return tried[-1]

    best = min((attempt(rule) for rule in _rules(sentences[0])), key=lambda one: one.aer)
    best = _add_thresholds(_add_heads(best, _heads(sentences[0]), attempt), attempt)
    return Tuned(best.rule, best.aer, tuple(tried))


def agree(
    forward: Sequence[ShiftedAttention], backward: Sequence[ShiftedAttention]
) -> tuple[LinkRule, LinkRule, float]:
    """Rules for both directions without gold: the two whose links agree most, and the share they disagree on.

    `backward` attends from target to source. Every head, layer and shift of one side is compared with every one of the
    other. No thresholds: two rules without any link would agree perfectly.
    """
    if len(forward) != len(backward) or not forward:
        raise ValueError(f"{len(forward)} sentences forward, {len(backward)} backward: agreement needs the same ones")
    ours, theirs = _rules(forward[0]), _rules(backward[0])
    left = _flat(ours, forward, turned=False)
    right = _flat(theirs, backward, turned=True)
    totals = left.sum(axis=1)[:, None] + right.sum(axis=1)[None, :]
    apart = 1 - 2 * (left @ right.T) / np.maximum(totals, 1)
    one, other = np.unravel_index(int(apart.argmin()), apart.shape)
    return ours[one], theirs[other], float(apart[one, other])


def _rules(sentence: ShiftedAttention) -> list[LinkRule]:
    layers, heads = _heads(sentence)
    return [LinkRule(chosen, shift) for shift in sorted(sentence, key=abs) for chosen in _choices(layers, heads)]


def _flat(
    rules: Sequence[LinkRule], sentences: Sequence[ShiftedAttention], *, turned: bool
) -> Float[np.ndarray, "rules cells"]:
    """1 where a rule links, for every pair of words of every sentence, in the order of the forward direction."""
    rows = []
    for rule in rules:
        chosen = (rule.chosen(one[rule.shift]) for one in sentences)
        rows.append(np.concatenate([(each.T if turned else each).ravel() for each in chosen]))
    return np.stack(rows).astype(np.float32)


def _heads(sentence: ShiftedAttention) -> tuple[int, int]:
    """Layers, and heads in each."""
    layers, heads, *_ = next(iter(sentence.values())).words.shape
    return layers, heads


def _choices(layers: int, heads: int) -> list[tuple[Head, ...]]:
    """The candidates: all heads, those of each layer, each head."""
    means = [tuple((layer, head) for head in range(heads)) for layer in range(layers)] if layers > 1 else []
    single = [((layer, head),) for layer in range(layers) for head in range(heads)] if heads > 1 else []
    return [(), *means, *single]


def _add_heads(best: RuleTrial, shape: tuple[int, int], attempt: Attempt) -> RuleTrial:
    every_head = [(layer, head) for layer in range(shape[0]) for head in range(shape[1])]
    while best.rule.heads and len(best.rule.heads) < min(MOST_HEADS, len(every_head)):
        more = [replace(best.rule, heads=(*best.rule.heads, one)) for one in every_head if one not in best.rule.heads]
        challenger = min((attempt(rule) for rule in more), key=lambda one: one.aer)
        if challenger.aer > best.aer - GAIN:
            break
        best = challenger
    return best


def _add_thresholds(best: RuleTrial, attempt: Attempt) -> RuleTrial:
    plain = best.rule
    rules = [replace(plain, null=True)]
    rules += [replace(plain, threshold=threshold, null=null) for threshold in THRESHOLDS for null in (False, True)]
    rules += [replace(plain, method="threshold", threshold=threshold) for threshold in THRESHOLDS]
    challenger = min((attempt(rule) for rule in rules), key=lambda one: one.aer)
    return challenger if challenger.aer <= best.aer - GAIN else best


def _masks(links: Links, looks: WordAttention) -> tuple[Mask, Mask]:
    """Sure and possible links as matrices."""
    sure, possible = (np.zeros(looks.words.shape[2:], dtype=bool) for _ in range(2))
    for mask, some in ((sure, links.sure), (possible, links.possible)):
        for source, target in some:
            mask[target, source] = True
    return sure, possible


def _error(rule: LinkRule, sentences: Sequence[ShiftedAttention], masks: Sequence[tuple[Mask, Mask]]) -> float:
    """`score_alignment`'s error rate, from matrices instead of sets."""
    hits = total = 0
    for one, (sure, possible) in zip(sentences, masks, strict=True):
        linked = rule.chosen(one[rule.shift])
        hits += int((linked & sure).sum()) + int((linked & possible).sum())
        total += int(linked.sum()) + int(sure.sum())
    return 1 - hits / total if total else 0.0


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
    forward, backward, gold = forward[:MOST], backward[:MOST], gold[:MOST]
    ours = [(rule, _links(rule, forward, turned=False)) for rule in _candidates(rules[0])]
    theirs = [(rule, _links(rule, backward, turned=True)) for rule in _candidates(rules[1])]
    found = []
    for one, left in ours:
        for other, right in theirs:
            for method in methods:
                if method != PRODUCT:
                    joined = [symmetrise(*both, method) for both in zip(left, right, strict=True)]
                    found.append(TunedPair(one, other, method, score_alignment(joined, gold).aer))
    if PRODUCT in methods:
        found += _products(forward, backward, gold, rules)
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
    others += [replace(plain, threshold=threshold) for threshold in PAIR_ARGMAX_THRESHOLDS]
    others += [replace(plain, method="threshold", threshold=threshold) for threshold in PAIR_THRESHOLDS]
    return list(dict.fromkeys([rule, *others]))


def _links(rule: LinkRule, sentences: Sequence[ShiftedAttention], *, turned: bool) -> list[frozenset[Link]]:
    found = (rule.links(one[rule.shift]) for one in sentences)
    return [frozenset((t, s) for s, t in links) if turned else links for links in found]
