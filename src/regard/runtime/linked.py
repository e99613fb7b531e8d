"""Links between words for a whole batch of attention, on the device that computed it."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from regard.alignment import LinkRule
from regard.text.encoding import PieceWords


@torch.inference_mode()
def linked_words(
    weights: Float[Tensor, "batch layer head target source"],
    sides: Sequence[tuple[PieceWords, PieceWords]],
    rule: LinkRule,
) -> list[Int64[np.ndarray, "links 2"]]:
    """(source word, target word) links of every pair, in order: `rule.links(WordAttention.of(...))` for each."""
    matrix, nothing = word_weights(weights, sides, rule)
    found = matrix > 0 if rule.threshold is None else (matrix > 0) & (matrix >= rule.threshold)
    if rule.method == "argmax":
        found &= torch.zeros_like(found).scatter_(2, matrix.argmax(dim=2, keepdim=True), True)
    if rule.null:
        found &= (matrix.amax(dim=2) >= nothing)[:, :, None]
    rows, sources, targets = found.transpose(1, 2).nonzero(as_tuple=True)
    links = torch.stack([sources, targets], dim=1).cpu().numpy()
    ends = torch.bincount(rows, minlength=len(sides)).cumsum(0).tolist()
    return np.split(links, ends[:-1])


@torch.inference_mode()
def word_weights(
    weights: Float[Tensor, "batch layer head target source"],
    sides: Sequence[tuple[PieceWords, PieceWords]],
    rule: LinkRule,
) -> tuple[Float[Tensor, "batch target_words source_words"], Float[Tensor, "batch target_words"]]:
    """Attention of each target word to each source word and to pieces outside words, with the rule's heads and shift.

    Words beyond the last one that is read have no row or column: a text that was cut may have millions of them.
    """
    device = weights.device
    if rule.heads:
        layers, heads = zip(*rule.heads, strict=True)
        chosen = weights[:, list(layers), list(heads)].float().mean(dim=1)
    else:
        chosen = weights.float().mean(dim=(1, 2))
    steps, places = chosen.shape[1:]
    source_words = _words([one for one, _ in sides], places)
    target_words = torch.roll(_words([other for _, other in sides], steps), rule.shift, dims=1)
    if rule.shift:
        target_words[:, 0 if rule.shift > 0 else -1] = -1
    sources, targets = (max(1, int(words.max()) + 1) for words in (source_words, target_words))
    to_source = _membership(source_words.to(device), sources)
    to_target = _membership(target_words.to(device), targets)[:, :, :targets]
    pieces = to_target.sum(dim=1).clamp(min=1)[:, :, None]
    looks = to_target.transpose(1, 2) @ (chosen @ to_source) / pieces
    return looks[:, :, :sources], looks[:, :, sources]


def _words(sides: Sequence[PieceWords], width: int) -> Int64[Tensor, "batch pieces"]:
    """The word of each piece, -1 for padding and for pieces outside words."""
    words = np.full((len(sides), width), -1, dtype=np.int64)
    for row, side in enumerate(sides):
        words[row, : len(side.words)] = [-1 if word is None else word for word in side.words]
    return torch.from_numpy(words)


def _membership(words: Int64[Tensor, "batch pieces"], count: int) -> Float[Tensor, "batch pieces slots"]:
    """1 where a piece belongs to a word; the last slot is for pieces outside words."""
    return torch.nn.functional.one_hot(torch.where(words < 0, count, words), count + 1).float()
