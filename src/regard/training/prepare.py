"""From a recipe to the data of a run: reads pairs, trains tokenizers, encodes and batches sentences and word links."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from regard.bundle.store import Bundle
from regard.data.batching import EpochBatcher
from regard.data.dataset import EncodedPairs, PieceLimits, encode_pairs
from regard.data.guidance import Guidance, PieceLinks, encode_links, known_links, read_links
from regard.data.pair import Pair
from regard.data.pipeline import Watch, encode_corpus, no_progress, open_training, train_tokenizers
from regard.data.splits import Corpus, StoredSplit, load_split
from regard.models.model_config import RecurrentConfig
from regard.text.input_error import InputError
from regard.text.tokenizer import Tokenizer, first_difference
from regard.training.recipe import Recipe
from regard.training.word_dropout import hide_words

TRAINING, DEVELOPMENT, LINKS = "training pairs", "development pairs", "word links"
VALIDATION_SENTENCES = 256
"""Rows of a validation batch: without gradients, more fit into memory than in training."""


@dataclass(frozen=True)
class Prepared:
    """The prepared data: tokenizers, training and development batches, and notes for the user."""

    recipe: Recipe
    train: Corpus | StoredSplit
    """The training text: with BPE dropout, every epoch encodes it again."""
    source: Tokenizer
    target: Tokenizer
    batcher: EpochBatcher
    dev: Sequence[Pair]
    dev_batcher: EpochBatcher
    longest_source: int
    """Largest number of source pieces that the model reads: the recipe's limit, or the longest training source."""
    notes: tuple[str, ...]

    def batcher_for(self, epoch: int) -> EpochBatcher:
        """The training batches of an epoch; with BPE dropout, each epoch has its own."""
        if epoch == 0 or not _drops_merges(self.recipe):
            return self.batcher
        encoded, _ = _encode(self.recipe, self.train, self.source, self.target, epoch, no_progress)
        return _batcher(encoded, self.recipe, self.batcher.guide)

    @cached_property
    def fingerprints(self) -> dict[str, str | None]:
        """Digests of the encoded training pairs, the text of the development pairs, and the word links."""
        sides = (self.batcher.data.source, self.batcher.data.target)
        guide = self.batcher.guide
        links = None if guide is None else guide.links
        return {
            TRAINING: _digest(part for side in sides for part in (side.ids.data, side.offsets.data)),
            DEVELOPMENT: _digest(f"{pair.source}\0{pair.target}\0".encode(errors="surrogatepass") for pair in self.dev),
            LINKS: None if links is None else _digest((links.sources.data, links.targets.data, links.offsets.data)),
        }


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def prepare(recipe: Recipe, known: Bundle | None = None, watch: Watch = no_progress) -> Prepared:
    """Read and encode the data; a run that resumes or fine-tunes takes its tokenizers from the bundle `known`."""
    train, dev = open_training(recipe.data), load_split(recipe.data, "dev")
    source, target = (known.source, known.target) if known else train_tokenizers(train, recipe.text, watch)
    _check_shared(recipe, source, target, known)
    encoded, notes = _encode(recipe, train, source, target, 0, watch)
    text = recipe.text
    chosen = dev.pairs[: recipe.train.validate_sentences]
    dev_encoded = encode_pairs(
        chosen, source, target, PieceLimits(text.longest_source, text.longest_target, "truncate")
    )
    for pairs in (encoded, dev_encoded):
        _check_positions(pairs, recipe)
    return Prepared(
        recipe,
        train,
        source,
        target,
        _batcher(encoded, recipe, _build_guide(recipe, train, encoded, source, target)),
        chosen,
        EpochBatcher(dev_encoded, sentences=VALIDATION_SENTENCES, shuffle=False, source_eos=text.source_eos),
        text.longest_source or _longest_shown(encoded, recipe, known),
        (*notes, *encoded.notes, *dev.notes),
    )


def _longest_shown(encoded: EncodedPairs, recipe: Recipe, known: Bundle | None) -> int:
    """Pieces of the longest training source, including those of the model that is fine-tuned."""
    longest = int(encoded.source.lengths.max())
    return longest if known is None or not recipe.train.start_from else max(longest, known.longest_source)


def _check_shared(recipe: Recipe, source: Tokenizer, target: Tokenizer, known: Bundle | None) -> None:
    """Raise for two vocabularies where the recipe needs one: with a shared embedding, an id has one meaning."""
    tied = recipe.model.tie == "all"
    if not tied and not recipe.text.joint:
        return
    different = first_difference(source, target, "in the source", "in the target")
    if different is not None:
        claim = "tie = 'all' in [model]" if tied else "joint = true in [text]"
        remedy = ": set joint = true in [text], or tie = 'target'"
        if known is not None:
            remedy = f" of {known.name}: train a new model, without its vocabularies"
        raise InputError(f"{claim} shares one vocabulary, but {different}{remedy}")


def _check_positions(pairs: EncodedPairs, recipe: Recipe) -> None:
    """Raise, before the first epoch, for sentences longer than the positions that the model learns."""
    most = recipe.model.most_pieces
    if most is None:
        return
    sides = (("source", pairs.source, int(recipe.text.source_eos)), ("target", pairs.target, 1))
    for side, sequences, more in sides:
        longest = int(sequences.lengths.max()) + more
        if longest > most:
            raise InputError(
                f"a {side} of {longest:,} pieces{' (EOS counted)' * more}, but [model] longest = {most}: raise it to "
                f"{longest}, or leave long pairs out with [text] longest_{side} = {most - more}"
            )


def _encode(
    recipe: Recipe, train: Corpus | StoredSplit, source: Tokenizer, target: Tokenizer, epoch: int, watch: Watch
) -> tuple[EncodedPairs, tuple[str, ...]]:
    text, config = recipe.text, recipe.train
    longest_source, longest_target = text.longest_source, text.longest_target
    seed = None
    if _drops_merges(recipe):
        seed = f"{config.seed} {epoch}"
        # With BPE dropout a sentence has other pieces in every epoch, and must fit in all of them.
        fits = [bound - 1 for bound in (config.batch_tokens, recipe.model.most_pieces) if bound is not None]
        longest_source = min((*fits, *([longest_source] if longest_source else [])), default=None)
        longest_target = min((*fits, *([longest_target] if longest_target else [])), default=None)
    encoded, notes = encode_corpus(train, source, target, PieceLimits(longest_source, longest_target), seed, watch)
    return hide_words(encoded, source, target, config.hide_words, config.seed), notes


def _drops_merges(recipe: Recipe) -> bool:
    return bool(recipe.text.source.dropout or recipe.text.target.dropout)


def _batcher(encoded: EncodedPairs, recipe: Recipe, guide: Guidance[PieceLinks] | None) -> EpochBatcher:
    config = recipe.train
    return EpochBatcher(
        encoded,
        tokens=config.batch_tokens,
        sentences=config.batch_sentences,
        seed=config.seed,
        source_eos=recipe.text.source_eos,
        bucket=config.bucket,
        guide=guide,
        multiple=config.pad_to,
    )


def _build_guide(
    recipe: Recipe, train: Corpus | StoredSplit, encoded: EncodedPairs, source: Tokenizer, target: Tokenizer
) -> Guidance[PieceLinks] | None:
    """The targets of guided alignment and coverage; None if the recipe uses neither."""
    config, model = recipe.train.guide, recipe.model
    if not config.weight and not recipe.train.coverage:
        return None
    if isinstance(model, RecurrentConfig) and model.score == "none":
        raise InputError("train.guide and train.coverage need attention: this model has none (score = 'none')")
    layers, heads = model.attention_shape
    layer = max(layers - 2, 0) if config.layer is None else config.layer
    if layer >= layers or config.head >= heads:
        raise InputError(
            f"train.guide: there is no head {config.head} in layer {layer}: this model has layers 0 to {layers - 1}, "
            f"heads 0 to {heads - 1}"
        )
    links = None
    if config.weight:
        if _drops_merges(recipe):
            raise InputError(
                "train.guide needs fixed pieces, but text.dropout segments words differently in every epoch: "
                "leave one of them out"
            )
        pairs = train.pairs if isinstance(train, Corpus) else train.pairs()
        known = known_links(pairs) if config.links is None else read_links(config.links, pairs)
        links = encode_links(known, encoded, source, target, spaces=config.words == "spaces", shift=config.shift)
    return Guidance(links, config.weight, layer, config.head, recipe.train.coverage)
