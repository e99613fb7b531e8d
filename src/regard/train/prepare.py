"""From a recipe to what the loop needs: pairs read, tokenizers trained, sentences encoded and batched."""

from dataclasses import dataclass

from regard.bundle.store import Bundle
from regard.data.batching import Batcher
from regard.data.config import load_split
from regard.data.dataset import encode_pairs
from regard.data.pair import Pair
from regard.text.config import TokenizerConfig
from regard.text.tokenizer import Tokenizer
from regard.train.recipe import Recipe

VALIDATION_SENTENCES = 100
"""Rows of a validation batch: decoding keeps no gradients, so more fit than in training."""


@dataclass(frozen=True)
class Prepared:
    """Everything but the model."""

    source: Tokenizer
    target: Tokenizer
    batcher: Batcher
    dev: list[Pair]
    dev_batcher: Batcher
    notes: tuple[str, ...]


def prepare(recipe: Recipe, known: Bundle | None = None) -> Prepared:
    """Read and encode the data; `known` brings its tokenizers along when a run resumes or fine-tunes."""
    train = load_split(recipe.data, "train")
    dev = load_split(recipe.data, "dev")
    source, target = (known.source, known.target) if known else train_tokenizers(recipe, train.pairs)
    text, config = recipe.text, recipe.train
    encoded = encode_pairs(train.pairs, source, target, text.longest_source, text.longest_target)
    chosen = dev.pairs[: config.validate_sentences]
    dev_encoded = encode_pairs(chosen, source, target, text.longest_source, text.longest_target, overlong="truncate")
    return Prepared(
        source,
        target,
        Batcher(
            encoded,
            tokens=config.batch_tokens,
            sentences=config.batch_sentences,
            seed=config.seed,
            source_eos=text.source_eos,
        ),
        chosen,
        Batcher(dev_encoded, sentences=VALIDATION_SENTENCES, shuffle=False, source_eos=text.source_eos),
        (*train.notes, *encoded.notes, *dev.notes),
    )


def train_tokenizers(recipe: Recipe, pairs: list[Pair]) -> tuple[Tokenizer, Tokenizer]:
    """One tokenizer for each side, or one for both where the recipe says joint."""
    text = recipe.text
    if text.joint:
        both = Tokenizer.train((side for pair in pairs for side in (pair.source, pair.target)), text.source)
        return both, both
    return (
        _train(text.source, (pair.source for pair in pairs)),
        _train(text.target, (pair.target for pair in pairs)),
    )


def _train(config: TokenizerConfig, texts: object) -> Tokenizer:
    return Tokenizer.train(texts, config)  # type: ignore[arg-type]
