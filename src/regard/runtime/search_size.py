"""The number of texts that are decoded together, from the limits on what a search may keep in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.bounds import MOST
from regard.runtime.source_text import SourceText
from regard.search import SearchConfig
from regard.text.input_error import InputError

ROWS, PIECES = 64, 4096
"""Largest numbers of sentences, and of source pieces with padding, that are decoded together."""


@dataclass(frozen=True)
class SearchSize:
    """The settings that determine the memory of a search, besides the length of the source."""

    config: SearchConfig
    most_pieces: int | None
    """Largest number of pieces that the model writes; None: no limit."""
    attention: tuple[int, int]
    """Decoder layers that attend to the source, and heads in each."""
    forced: int | None = None
    """Pieces of the longest forced translation."""
    encoder_heads: int = 0
    """Heads of self-attention in a layer of the encoder."""

    def groups(self, sources: Sequence[SourceText], times: int = 1) -> list[list[int]]:
        """Indices of the texts to decode together, the longest first: texts of similar length need little padding.

        `times` makes the groups larger, where memory allows it. InputError: one text alone needs too much.
        """
        lengths = [len(one.encoding.ids) for one in sources]
        order = sorted((i for i, one in enumerate(sources) if not one.blank), key=lambda i: -lengths[i])
        groups, first = [], 0
        while first < len(order):
            pieces = lengths[order[first]]
            rows = min(times * ROWS, max(1, times * PIECES // pieces), self.together(pieces))
            groups.append(order[first : first + rows])
            first += rows
        return groups

    def together(self, pieces: int) -> int:
        """The number of sources of this length that may be searched together, at least 1; raises if 1 is too much."""
        if self.forced is None:
            width = max(self.config.beam, self.config.nbest)
            limit = int(self.config.limits(torch.tensor([pieces]), self.most_pieces))
        else:
            width, limit = 1, self.forced
        layers, heads = self.attention
        kept = {"search": width * limit, "weights": width * limit * layers * heads * pieces}
        for name, count in kept.items():
            if count > MOST[name]:
                what = "pieces" if name == "search" else f"attention weights over {pieces:,} source pieces"
                remedy = "lower beam, nbest or longest" if self.forced is None else "shorten the target"
                raise InputError(
                    f"{width:,} hypotheses of up to {limit:,} pieces keep {count:,} {what}, at most {MOST[name]:,} "
                    f"are possible: {remedy}, or break the text into sentences"
                )
        encoded = self.encoder_heads * pieces**2
        if encoded > MOST["weights"]:
            raise InputError(
                f"the encoder attends to {encoded:,} pairs of its {pieces:,} pieces (times heads), at most "
                f"{MOST['weights']:,} are possible: break the text into sentences"
            )
        return min(MOST["weights"] // max(encoded, 1), *(MOST[name] // max(count, 1) for name, count in kept.items()))
