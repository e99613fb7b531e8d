"""Where a run's attention is told to look: links from a file or from the corpus, brought to pieces."""

from collections.abc import Iterator

from regard.alignment import Links
from regard.data.dataset import EncodedPairs
from regard.data.guidance import Guide, encode_links, known_links, read_links
from regard.data.pair import Pair
from regard.data.splits import Corpus, StoredSplit
from regard.models.config import RecurrentConfig
from regard.text.errors import InputError
from regard.text.tokenizer import Tokenizer
from regard.training.recipe import Recipe


def build_guide(
    recipe: Recipe, train: Corpus | StoredSplit, encoded: EncodedPairs, source: Tokenizer, target: Tokenizer
) -> Guide | None:
    """None where the recipe asks for neither links nor coverage."""
    config, model = recipe.train.guide, recipe.model
    if not config.weight and not recipe.train.coverage:
        return None
    recurrent = isinstance(model, RecurrentConfig)
    if isinstance(model, RecurrentConfig) and model.score == "none":
        raise InputError("train.guide and train.coverage need attention: this model has none (score = 'none')")
    layers, heads = (1, model.heads) if isinstance(model, RecurrentConfig) else (model.decoder_layers, model.heads)
    layer = config.layer if config.layer is not None else 0 if recurrent else max(layers - 2, 0)
    if layer >= layers or config.head >= heads:
        raise InputError(
            f"train.guide: there is no head {config.head} in layer {layer}: this model has layers 0 to {layers - 1}, "
            f"heads 0 to {heads - 1}"
        )
    links = None
    if config.weight:
        if recipe.text.source.dropout or recipe.text.target.dropout:
            raise InputError("train.guide links pieces, which text.dropout cuts anew in every epoch: leave one out")
        spaces = config.words == "spaces"
        links = encode_links(_linked(recipe, train), encoded, source, target, spaces=spaces, shift=config.shift)
    return Guide(links, config.weight, layer, config.head, recipe.train.coverage)


def _linked(recipe: Recipe, train: Corpus | StoredSplit) -> Iterator[tuple[Pair, Links]]:
    pairs = train.pairs if isinstance(train, Corpus) else train.pairs()
    path = recipe.train.guide.links
    return known_links(pairs) if path is None else read_links(path, pairs)
