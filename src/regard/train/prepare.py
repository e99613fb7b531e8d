"""From a recipe to what the loop needs: pairs read, tokenizers trained, sentences encoded and batched."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from regard.bundle.store import Bundle
from regard.data.batching import Batcher
from regard.data.config import load_split
from regard.data.dataset import EncodedPairs, encode_pairs
from regard.data.pair import Pair
from regard.text.tokenizer import Tokenizer
from regard.train.hide import hide_words
from regard.train.recipe import Recipe

VALIDATION_SENTENCES = 100
"""Rows of a validation batch: decoding keeps no gradients, so more fit than in training."""


@dataclass(frozen=True)
class Prepared:
    """Everything that comes from data: tokenizers, training batches, development pairs with theirs, and notes."""

    recipe: Recipe
    pairs: Sequence[Pair]
    """The training text, kept only where every epoch encodes it anew."""
    source: Tokenizer
    target: Tokenizer
    batcher: Batcher
    dev: Sequence[Pair]
    dev_batcher: Batcher
    notes: tuple[str, ...]

    def batcher_for(self, epoch: int) -> Batcher:
        """The training batches; where BPE merges drop out, the text is cut into other pieces in every epoch."""
        if epoch == 0 or not _drops_merges(self.recipe):
            return self.batcher
        return _batcher(_encode(self.recipe, self.pairs, self.source, self.target, epoch), self.recipe)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the training pairs and with how they are encoded."""
        digest = hashlib.sha256()
        for side in (self.batcher.data.source, self.batcher.data.target):
            digest.update(side.ids.tobytes())
            digest.update(side.offsets.tobytes())
        return digest.hexdigest()


def prepare(recipe: Recipe, known: Bundle | None = None) -> Prepared:
    """Read and encode the data; `known` brings its tokenizers along when a run resumes or fine-tunes."""
    train, dev = load_split(recipe.data, "train"), load_split(recipe.data, "dev")
    source, target = (known.source, known.target) if known else _train_tokenizers(recipe, train.pairs)
    encoded = _encode(recipe, train.pairs, source, target, epoch=0)
    text = recipe.text
    chosen = dev.pairs[: recipe.train.validate_sentences]
    dev_encoded = encode_pairs(chosen, source, target, text.longest_source, text.longest_target, overlong="truncate")
    return Prepared(
        recipe,
        train.pairs if _drops_merges(recipe) else (),
        source,
        target,
        _batcher(encoded, recipe),
        chosen,
        Batcher(dev_encoded, sentences=VALIDATION_SENTENCES, shuffle=False, source_eos=text.source_eos),
        (*train.notes, *encoded.notes, *dev.notes),
    )


def _encode(recipe: Recipe, pairs: Sequence[Pair], source: Tokenizer, target: Tokenizer, epoch: int) -> EncodedPairs:
    text, config = recipe.text, recipe.train
    longest_source, longest_target = text.longest_source, text.longest_target
    random = None
    if _drops_merges(recipe):
        random = Random(f"{config.seed} {epoch}")
        if config.batch_tokens is not None:  # what fits in one epoch must not be too long in another
            fits = config.batch_tokens - 1
            longest_source, longest_target = min(fits, longest_source or fits), min(fits, longest_target or fits)
    encoded = encode_pairs(pairs, source, target, longest_source, longest_target, random=random)
    return hide_words(encoded, source, target, config.hide_words, config.seed)


def _drops_merges(recipe: Recipe) -> bool:
    return bool(recipe.text.source.dropout or recipe.text.target.dropout)


def _batcher(encoded: EncodedPairs, recipe: Recipe) -> Batcher:
    config = recipe.train
    return Batcher(
        encoded,
        tokens=config.batch_tokens,
        sentences=config.batch_sentences,
        seed=config.seed,
        source_eos=recipe.text.source_eos,
        bucket=config.bucket,
    )


def _train_tokenizers(recipe: Recipe, pairs: Sequence[Pair]) -> tuple[Tokenizer, Tokenizer]:
    """One tokenizer for each side, or one for both where the recipe says joint."""
    text = recipe.text
    if text.joint:
        both = Tokenizer.train((side for pair in pairs for side in (pair.source, pair.target)), text.source)
        return both, both
    return (
        Tokenizer.train((pair.source for pair in pairs), text.source),
        Tokenizer.train((pair.target for pair in pairs), text.target),
    )
