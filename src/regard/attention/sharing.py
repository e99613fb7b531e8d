"""Several rows that look at one sentence: hypotheses of a beam share its memory instead of each having a copy.

```
rows       a a a b b        the memory holds a and b once;
queries    [a: 3, b: 2]     on the CPU the rows of a sentence become its target axis, short sentences filled up
```
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.additive.module import BahdanauAttention
from regard.attention.local.module import LocalP
from regard.attention.multiplicative.module import LuongConcat, LuongDot, LuongGeneral
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Attended, Attention, Memory
from regard.attention.scaled_dot.module import MultiHeadAttention, ScaledDotAttention
from regard.attention.window import GlobalWindow

_ASIDE = (BahdanauAttention, LuongDot, LuongGeneral, LuongConcat, ScaledDotAttention, MultiHeadAttention, NoAttention)
"""Mechanisms that treat each query for itself."""


@dataclass(frozen=True)
class Owners:
    """Which sentence of the memory each row looks at."""

    sentence: Int[Tensor, " rows"]
    beams: int | None = None
    """The most rows of one sentence; None where that is not known without waiting for the device."""
    place: Int[Tensor, " rows"] | None = None
    """Each row's place among sentences × beams; None where the rows fill it in order."""

    def spread(self, memory: Memory) -> Memory:
        """A memory for each row of its own."""
        return memory.select(self.sentence)


def owners_after(
    owners: Owners | None, rows: Int[Tensor, " rows"], sentences: int
) -> tuple[Owners | None, Int[Tensor, " kept"] | None]:
    """Who looks where after `select(rows)`, and which of the memory's sentences to keep; None is all of them.

    On a device nothing is counted, for that would wait for it: all sentences are kept.
    """
    sentence = rows if owners is None else owners.sentence.index_select(0, rows)
    if rows.device.type != "cpu":
        return Owners(sentence), None
    if sentences == 1 and len(rows):
        return (Owners(sentence, len(rows)) if len(rows) > 1 else None), None
    kept, sentence, counts = torch.unique(sentence, return_inverse=True, return_counts=True)
    left = None if len(kept) == sentences else kept
    before = counts.cumsum(0) - counts
    slot = torch.arange(len(rows)) - before[sentence]
    if bool((slot < 0).any()) or bool((slot >= counts[sentence]).any()) or not len(rows):
        return Owners(sentence), left  # the rows of a sentence are not neighbours
    beams = int(counts.max())
    if beams == 1:
        return None, left
    full = len(rows) == len(kept) * beams
    return Owners(sentence, beams, None if full else sentence * beams + slot), left


def look(
    attention: Attention,
    query: Float[Tensor, "rows target query"],
    memory: Memory,
    owners: Owners | None,
    position: int = 0,
    *,
    weights: Float[Tensor, "rows head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """What attention gives when each row looks at its own sentence."""
    if owners is None:
        return attention(query, memory, position, weights=weights, trace=trace)
    if weights is not None or trace or owners.beams is None or query.shape[1] != 1 or not _aside(attention):
        return attention(query, owners.spread(memory), position, weights=weights, trace=trace)
    sentences, beams, width = len(memory.real), owners.beams, query.shape[-1]
    if owners.place is None:
        together = query.reshape(sentences, beams, width)
    else:
        together = query.new_zeros(sentences * beams, width).index_copy_(0, owners.place, query[:, 0])
        together = together.view(sentences, beams, width)
    seen = attention(together, memory, position)
    context = seen.context.flatten(0, 1)
    looked = None if seen.weights is None else seen.weights.transpose(1, 2).flatten(0, 1)
    if owners.place is not None:
        context = context.index_select(0, owners.place)
        looked = None if looked is None else looked.index_select(0, owners.place)
    return Attended(context[:, None], None if looked is None else looked[:, :, None])


def _aside(attention: Attention) -> bool:
    """Whether queries side by side on the target axis are treated as if each were alone, all at the same step."""
    if type(attention) not in _ASIDE:  # a subclass may compute something else
        return False
    return type(attention) is NoAttention or type(attention.window) in (GlobalWindow, LocalP)  # type: ignore[attr-defined]
