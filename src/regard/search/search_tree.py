"""A record of every candidate that beam search considered."""

from dataclasses import dataclass, field
from typing import Literal

Fate = Literal["kept", "finished", "cut", "pruned", "hopeless"]
"""kept: continued; finished: ended in EOS; cut: reached the limit; pruned: outside the beam;
hopeless: inside the beam, but unable to beat a finished hypothesis."""


@dataclass(frozen=True)
class Node:
    """One candidate; no two nodes of a sentence have the same tokens, so the parent is the node of `tokens[:-1]`."""

    sentence: int
    tokens: tuple[int, ...]
    score: float
    fate: Fate


@dataclass
class SearchTree:
    """Pass an empty one to `beam_search`, which fills it step by step."""

    nodes: list[Node] = field(default_factory=list)

    def of(self, sentence: int) -> list[Node]:
        return [node for node in self.nodes if node.sentence == sentence]
