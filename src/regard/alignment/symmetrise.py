"""Symmetrisation: the alignments of both directions of a sentence become one (Och and Ney 2003, Koehn et al. 2003).

Both directions are 0-based (source, target) links; flip the links of a model that translates target to source first.
"""

from collections.abc import Set
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float

from regard.alignment.links import Link
from regard.suggest import suggest

Method = Literal["intersection", "union", "grow-diag", "grow-diag-final-and"]

PRODUCT = "product"
"""The only method that combines weights instead of links; see `product`."""
WAYS: tuple[str, ...] = (*get_args(Method), PRODUCT)

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(forward: Set[Link], backward: Set[Link], method: str = "grow-diag-final-and") -> frozenset[Link]:
    """The links of both directions as one set.

    intersection: high precision. union: high recall. grow-diag: the intersection, grown through neighbours (also
    diagonal ones) that lie in the union and reach a free word. grow-diag-final-and: then every link of either
    direction whose two words are both still free.
    """
    if method not in get_args(Method):
        raise ValueError(f"no symmetrisation '{method}': {suggest(method, get_args(Method))}")
    if method == "intersection":
        return frozenset(forward) & backward
    if method == "union":
        return frozenset(forward) | backward
    links = _grow(forward, backward)
    if method == "grow-diag-final-and":
        sources, targets = {source for source, _ in links}, {target for _, target in links}
        for source, target in (*sorted(forward, key=_target_first), *sorted(backward, key=_target_first)):
            if source not in sources and target not in targets:
                links.add((source, target))
                sources.add(source)
                targets.add(target)
    return frozenset(links)


def product(
    forward: Float[np.ndarray, "target source"],
    backward: Float[np.ndarray, "other_source other_target"],
    threshold: float,
) -> Bool[np.ndarray, "both_target both_source"]:
    """True where √(f · b) reaches the threshold: a high weight in one direction makes up for a low one in the other.

    Liang et al. 2006, section 3.2, multiply posterior probabilities; weights of 0 never link. Words that only one
    direction has are left out: a model may drop a final stop.
    """
    targets, sources = map(min, forward.shape, backward.shape[::-1])
    ours, theirs = forward[:targets, :sources], backward[:sources, :targets]
    both = np.sqrt(ours.astype(np.float32) * theirs.T.astype(np.float32))
    return np.asarray((both > 0) & (both >= threshold))


def _target_first(link: Link) -> Link:
    return link[1], link[0]


def _grow(forward: Set[Link], backward: Set[Link]) -> set[Link]:
    """Visits links target word by target word, as Moses does, because the result depends on the order."""
    links = set(forward) & set(backward)
    either = set(forward) | set(backward)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    order = sorted(either, key=_target_first)
    grown = True
    while grown:
        grown = False
        for link in order:
            if link not in links:
                continue
            for step_source, step_target in _NEIGHBOURS:
                near = link[0] + step_source, link[1] + step_target
                free = near[0] not in sources or near[1] not in targets
                if near in either and near not in links and free:
                    links.add(near)
                    sources.add(near[0])
                    targets.add(near[1])
                    grown = True
    return links
