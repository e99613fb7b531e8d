"""Word dropout for copying: a word that both sides share becomes UNK on both, so that the model learns to copy it."""

from dataclasses import replace

import numpy as np
from jaxtyping import Int64

from regard.data.dataset import EncodedPairs, Sequences
from regard.text.special import EOS, UNK
from regard.text.tokenizer import Tokenizer

Words = Int64[np.ndarray, "vocabulary"]
"""For each id of a vocabulary: the target id of the same word, -1 for pieces that are never hidden."""
Keys = Int64[np.ndarray, "_"]
"""Numbers that identify a word within its pair."""


def hide_words(pairs: EncodedPairs, source: Tokenizer, target: Tokenizer, share: float, seed: int) -> EncodedPairs:
    """Replace words by UNK that occur equally often on both sides of a pair, each with probability `share`.

    A word of a pair is hidden everywhere or nowhere in it; punctuation is left alone.

        jane visits africa in may    →    UNK visits africa in may
        jane visite l' afrique …     →    UNK visite l' afrique …
    """
    if not share:
        return pairs
    alike = _same_words(source, target)
    left, right = _keys(pairs.source, alike, len(target)), _keys(pairs.target, _known(target), len(target))
    common = _equally_often(left[left >= 0], right[right >= 0])
    drawn = np.random.RandomState(seed & 0xFFFFFFFF).random_sample(len(common)) < share
    hidden = common[drawn]
    return replace(pairs, source=_hide(pairs.source, left, hidden), target=_hide(pairs.target, right, hidden))


def _same_words(source: Tokenizer, target: Tokenizer) -> Words:
    """Each source id as the target id of the same word."""
    known = dict(zip(target.pieces, _known(target).tolist(), strict=True))
    special = EOS + 1
    return np.array([-1] * special + [known.get(piece, -1) for piece in source.pieces[special:]], np.int64)


def _known(target: Tokenizer) -> Words:
    """Each target id as itself, unless it is special or punctuation."""
    words = [any(character.isalnum() for character in piece) for piece in target.pieces]
    numbers = np.arange(len(words))
    return np.where(np.array(words) & (numbers > EOS), numbers, -1)


def _keys(side: Sequences, words: Words, vocabulary: int) -> Keys:
    """The key of every piece, -1 where it is never hidden."""
    pair = np.repeat(np.arange(len(side)), side.lengths)
    word = words[side.ids]
    return np.where(word >= 0, pair * vocabulary + word, -1)


def _equally_often(left: Keys, right: Keys) -> Keys:
    """The keys that occur equally often on both sides."""
    ours, our_counts = np.unique(left, return_counts=True)
    theirs, their_counts = np.unique(right, return_counts=True)
    common, ours_at, theirs_at = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    equal: Keys = common[our_counts[ours_at] == their_counts[theirs_at]]
    return equal


def _hide(side: Sequences, keys: Keys, hidden: Keys) -> Sequences:
    return replace(side, ids=np.where(np.isin(keys, hidden), np.int32(UNK), side.ids))
