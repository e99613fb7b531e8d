"""How links are extracted from attention: which heads, which row belongs to a word, argmax or threshold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from jaxtyping import Bool, Float

from regard.alignment.extract import Method, linked, links_in
from regard.alignment.links import Link
from regard.suggest import suggest

Head = tuple[int, int]
"""(layer, head), both counted from 0."""
_HEAD = re.compile(r"([0-9]{1,9})\.([0-9]{1,9}|\*)")


@dataclass(frozen=True, eq=False)
class WordAttention:
    """Attention of each target word to each source word, by layer and head; `nothing` is the attention to EOS and
    other pieces of no word.
    """

    words: Float[np.ndarray, "layer head target source"]
    nothing: Float[np.ndarray, "layer head target"]

    @classmethod
    def of(
        cls,
        attention: Float[np.ndarray, "layer head step place"],
        source_words: Sequence[int | None],
        target_words: Sequence[int | None],
        *,
        counts: tuple[int, int],
        shift: int = 0,
    ) -> "WordAttention":
        """`source_words[i]` is the word of source piece i, None for EOS; `counts` are the words of both sides.

        Weights are summed over the pieces of a source word and averaged over the pieces of a target word. Target piece
        i takes row i + shift: row i produced the piece, row i + 1 is the step that has it as input. Rows beyond the
        ends are left out; a word without rows has zeros.
        """
        steps, places = attention.shape[2:]
        if (steps, places) != (len(target_words), len(source_words)):
            raise ValueError(
                f"the attention has {steps} target and {places} source positions, but word numbers were given for "
                f"{len(target_words)} and {len(source_words)}: leave no piece out, and cut the padding off"
            )
        sources, targets = counts
        to_source = np.zeros((places, sources + 1))
        to_source[np.arange(places), [sources if word is None else word for word in source_words]] = 1.0
        to_target = np.zeros((steps, targets))
        for piece, word in enumerate(target_words):
            if word is not None and 0 <= piece + shift < steps:
                to_target[piece + shift, word] += 1.0
        pieces = np.maximum(to_target.sum(axis=0), 1)[:, None]
        looks = (to_target.T @ (attention @ to_source)) / pieces
        return cls(looks[..., :sources], looks[..., sources])


@dataclass(frozen=True)
class LinkRule:
    """argmax: each target word links to the source word with the highest weight (the first of equals), if that reaches
    the threshold where one is given. threshold: every pair that reaches the threshold. Weight 0 never links.
    """

    heads: tuple[Head, ...] = ()
    """Links come from the mean of these; if empty, from the mean of all layers and heads."""
    shift: int = 0
    """A word's links come from the row that produced it (0), the next one (1), or the one before (-1)."""
    method: Method = "argmax"
    threshold: float | None = None
    null: bool = False
    """Whether a word whose highest weight is on EOS links to nothing."""

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ValueError(f"no method '{self.method}': {suggest(self.method, get_args(Method))}")
        if self.method == "threshold" and self.threshold is None:
            raise ValueError("method 'threshold' needs a threshold, for instance 0.2")
        if self.shift not in (-1, 0, 1):
            raise ValueError(
                f"shift {self.shift}: links are in the row before (-1), the word's own (0) or the next (1)"
            )
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold {self.threshold} is not an attention weight: expected 0 to 1")

    def matrix(self, looks: WordAttention) -> Float[np.ndarray, "target source"]:
        """One matrix of the chosen heads' mean."""
        return np.asarray(_mean(looks.words, self.heads))

    def chosen(self, looks: WordAttention) -> Bool[np.ndarray, "target source"]:
        """True where a target word links to a source word; `looks` must have this rule's shift."""
        matrix = self.matrix(looks)
        found = linked(matrix, self.method, self.threshold)
        if self.null and matrix.size:
            found &= (matrix.max(axis=1) >= _mean(looks.nothing, self.heads))[:, None]
        return found

    def links(self, looks: WordAttention) -> frozenset[Link]:
        """(source word, target word), 0-based."""
        return links_in(self.chosen(looks))

    def describe(self) -> str:
        """The keys of `regard align --set` that give the same rule."""
        parts = [f"heads={format_heads(self.heads)}"] if self.heads else []
        parts += [f"shift={self.shift}", *(["method=threshold"] if self.method == "threshold" else [])]
        parts += [f"threshold={self.threshold:g}"] if self.threshold is not None else []
        return " ".join([*parts, *(["null=true"] if self.null else [])])


def parse_heads(text: str, layers: int, heads: int) -> tuple[Head, ...]:
    """`1.0,1.3` are heads 0 and 3 of layer 1; `1.*` all heads of layer 1.

    >>> parse_heads("1.*,0.2", layers=2, heads=3)
    ((1, 0), (1, 1), (1, 2), (0, 2))
    """
    found: list[Head] = []
    for part in text.split(","):
        match = _HEAD.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"'{part}' is not a head: expected layer.head, for instance 1.0 or 1.*")
        layer, wanted = int(match[1]), range(heads) if match[2] == "*" else [int(match[2])]
        for head in wanted:
            if layer >= layers or head >= heads:
                raise ValueError(
                    f"there is no head {layer}.{head}: this model has layers 0 to {layers - 1}, heads 0 to {heads - 1}"
                )
            found.append((layer, head))
    return tuple(dict.fromkeys(found))


def format_heads(heads: Sequence[Head]) -> str:
    """The inverse of `parse_heads`."""
    return ",".join(f"{layer}.{head}" for layer, head in heads)


def _mean(values: Float[np.ndarray, "layer head *rest"], heads: Sequence[Head]) -> Float[np.ndarray, "*rest"]:
    if not heads:
        return np.asarray(values.mean(axis=(0, 1)))
    layers, numbers = zip(*heads, strict=True)
    return np.asarray(values[list(layers), list(numbers)].mean(axis=0))
