"""Which head of a model was taught to align: the one that its links are read from."""

from regard.bundle.store import Bundle
from regard.models.config import RecurrentConfig


def heads_of(bundle: Bundle) -> tuple[int, int]:
    """Layers that look at the source, and heads in each."""
    config = bundle.model.config
    return (1, config.heads) if isinstance(config, RecurrentConfig) else (config.decoder_layers, config.heads)


def guided_head(bundle: Bundle) -> tuple[int, int] | None:
    """The (layer, head) that [train.guide] taught; None where it was not used, or where there is only one head."""
    train = bundle.manifest.recipe.get("train") or {}
    guide = train.get("guide") or {}
    layers, heads = heads_of(bundle)
    if not guide.get("weight") or (layers, heads) == (1, 1):
        return None
    layer = guide.get("layer")
    return max(layers - 2, 0) if layer is None else int(layer), int(guide.get("head") or 0)


def guided_shift(bundle: Bundle) -> int:
    """1 where [train.guide] taught the step after the one that writes a word; else 0."""
    guide = (bundle.manifest.recipe.get("train") or {}).get("guide") or {}
    return int(guide.get("shift") or 0) if guide.get("weight") else 0
