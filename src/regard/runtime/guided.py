"""Guided alignment: the head that [train.guide] trained, from which links are extracted."""

from typing import Any

from regard.bounds import excerpt
from regard.bundle.store import Bundle
from regard.text.input_error import InputError


def guided_head(bundle: Bundle) -> tuple[int, int] | None:
    """The (layer, head) that [train.guide] trained; None if it was not used, or if there is only one head."""
    guide, (layers, heads) = _guide(bundle), bundle.model.config.attention_shape
    if not guide or (layers, heads) == (1, 1):
        return None
    layer, head = guide.get("layer"), guide.get("head") or 0
    layer = max(layers - 2, 0) if layer is None else layer
    if layer not in range(layers) or head not in range(heads):
        raise InputError(
            f"{bundle.name} was guided at layer {excerpt(layer)}, head {excerpt(head)}, but has {layers} layers of "
            f"{heads} heads: its manifest is damaged, copy the whole bundle again"
        )
    return int(layer), int(head)


def guided_shift(bundle: Bundle) -> int:
    """1 if [train.guide] trained the step after the one that produces a word; else 0."""
    return int(_guide(bundle).get("shift") == 1)


def _guide(bundle: Bundle) -> dict[str, Any]:
    """The recipe's [train.guide] if it has a weight; a manifest is not trusted to hold a valid recipe."""
    train = bundle.manifest.recipe.get("train")
    guide = train.get("guide") if isinstance(train, dict) else None
    return guide if isinstance(guide, dict) and guide.get("weight") else {}
