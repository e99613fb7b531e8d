"""The record of a beam search as a tree for the API."""

from collections import defaultdict
from math import exp

from regard.runtime.traced import TracedText
from regard.search import SearchTree
from regard.server.planning import RequestPlan
from regard.server.schema.translating import Piece
from regard.server.schema.views import BeamAnswer, BeamNode
from regard.server.served_models import Loaded
from regard.server.sides import SPACE, source_side, special, special_piece


def beam_answer(name: str, loaded: Loaded, planned: RequestPlan, text: TracedText, tree: SearchTree) -> BeamAnswer:
    """Nodes in breadth-first order: by depth, then by score as the beam compares them."""
    config = loaded.translator.search_config(dict(planned.search))
    penalty = config.options.penalty
    places = {one.tokens: place for place, one in enumerate(text.found, 1)}
    by_depth = defaultdict(list)
    for node in tree.nodes:
        by_depth[len(node.tokens)].append(node)
    nodes = [
        BeamNode(
            id=0, parent=None, depth=0, piece=None, probability=None, score=0.0, normalised_score=0.0, fate="kept",
            rank=None, prefix_ids=[], text="", best=None,
        )
    ]  # fmt: skip
    ids: dict[tuple[int, ...], int] = {(): 0}
    scores: dict[tuple[int, ...], float] = {(): 0.0}
    for depth in sorted(by_depth):
        ranked = sorted(by_depth[depth], key=lambda node: -node.score)
        for rank, node in enumerate(ranked, 1):
            before = node.tokens[:-1]
            ids[node.tokens], scores[node.tokens] = len(nodes), node.score
            nodes.append(
                BeamNode(
                    id=len(nodes),
                    parent=ids[before],
                    depth=depth,
                    piece=_piece(node.tokens[-1], loaded),
                    probability=_share(node.score - scores[before]),
                    score=node.score,
                    normalised_score=penalty.normalise(node.score, depth),
                    fate=node.fate,
                    rank=rank,
                    prefix_ids=list(node.tokens),
                    text=loaded.translator.bundle.target.decode(node.tokens),
                    best=places.get(node.tokens),
                )
            )
    return BeamAnswer(
        id=name,
        model=loaded.id,
        beam=config.beam,
        length_penalty=config.length_penalty,
        source=source_side(text.source.encoding, loaded.about.source_language),
        nodes=nodes,
    )


def _piece(number: int, loaded: Loaded) -> Piece:
    name = special(number)
    if name is not None and name != "UNK":
        return special_piece(number)
    text = "" if name else loaded.names[number].replace(SPACE, "")
    return Piece(text=text, id=number, span=None, word=None, special=name)


def _share(logarithm: float) -> float:
    """exp, at most 1: the difference of two sums may lie a rounding above 0."""
    return min(exp(logarithm), 1.0)
