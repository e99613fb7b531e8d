"""Segments one marked word into pieces, by BPE or unigram."""

from dataclasses import dataclass
from itertools import pairwise
from random import Random

import tokenizers

from regard.text.special import EOS, UNK

Segments = tuple[tuple[int, int], ...]
"""(id, number of characters) of each piece of a word, the mark ▁ counted."""

WAYS = 16
"""Segmentations of a word that BPE dropout chooses from."""
LONG = 100
"""Characters; a longer word (a line without spaces) is neither cached nor segmented with dropout."""


@dataclass(frozen=True)
class Subwords:
    """Segments marked words with a trained model of the `tokenizers` library.

    Text never becomes a special id: a word spelt </s> is unknown.
    """

    model: tokenizers.models.Model
    vocabulary: dict[str, int]
    ranks: dict[tuple[str, str], int]
    """Order of the merges; empty for unigram."""

    def __call__(self, word: str) -> Segments:
        raw = word.encode()
        found = []
        for token in self.model.tokenize(word):
            first, last = token.offsets  # bytes
            found.append((token.id if token.id > EOS else UNK, len(raw[first:last].decode())))
        return tuple(found)

    def with_dropout(self, word: str, dropout: float, random: Random) -> Segments:
        """BPE-dropout (Provilkov et al. 2020): at each step a possible merge is skipped with this probability."""
        if len(word) > LONG:
            return self(word)
        parts = list(word)
        while True:
            possible = [
                (rank, place)
                for place, pair in enumerate(pairwise(parts))
                if (rank := self.ranks.get(pair)) is not None and random.random() >= dropout
            ]
            if not possible:
                break
            _, place = min(possible)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        ids = [self.vocabulary.get(part, UNK) for part in parts]
        return tuple((number if number > EOS else UNK, len(part)) for number, part in zip(ids, parts, strict=True))
