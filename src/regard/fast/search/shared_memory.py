"""Rows of a beam share the memory of their sentence instead of each having a copy.

```
rows       a a a b b        the memory holds a and b once;
queries    [a: 3, b: 2]     on the CPU the rows of a sentence become its target axis, padded to the largest beam
```
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.attend import select_sentences
from regard.attention.local.module import LocalP
from regard.attention.none.module import NoAttention
from regard.attention.protocol import Attended, Attention, Memory
from regard.attention.window import GlobalWindow
from regard.fast.conditions import OWN_MECHANISMS
from regard.models.rnn.decoder import look
from regard.models.transformer.decoder import look_at_source
from regard.registry import Refusal, replaces


@dataclass(frozen=True)
class Sharing:
    """Which sentence of a memory each row looks at."""

    sentence: Int[Tensor, " rows"]
    beam: int | None = None
    """The largest number of rows of one sentence; None if unknown (on a GPU, where counting needs a device sync)."""
    slot: Int[Tensor, " rows"] | None = None
    """Each row's index among sentences × beam; None if the rows fill it in order."""


class SharedMemory(Memory):
    """A memory of some sentences as its rows see it: keys, values and real are gathered at every access.

    Code that knows only `Memory` gets the right tensors; `copied` gathers all of them at once. `tensors` are the
    stored tensors, and `with_tensors` is the same memory on others, in that order: CUDA graphs need both.
    """

    def __init__(self, whole: Memory, sharing: Sharing) -> None:
        self.whole, self.sharing = whole, sharing

    @property
    def keys(self) -> Float[Tensor, "batch *head source key"]:
        return self.whole.keys.index_select(0, self.sharing.sentence)

    @property
    def values(self) -> Float[Tensor, "batch *head source value"]:
        return self.whole.values.index_select(0, self.sharing.sentence)

    @property
    def real(self) -> Bool[Tensor, "batch source"]:
        return self.whole.real.index_select(0, self.sharing.sentence)

    def copied(self) -> Memory:
        """An ordinary memory with a copy for each row."""
        return self.whole.select(self.sharing.sentence)

    def select(self, rows: Int[Tensor, " rows"]) -> Memory:
        """The memory whose row i is this one's row `rows[i]`; still shared."""
        (selected,) = share_sentences((self,), rows)
        return selected

    def tensors(self) -> list[Tensor]:
        """The stored tensors."""
        whole, sharing = self.whole, self.sharing
        slot = [] if sharing.slot is None else [sharing.slot]
        return [whole.keys, whole.values, whole.real, sharing.sentence, *slot]

    def with_tensors(self, tensors: Iterable[Tensor]) -> "SharedMemory":
        """The same memory on other tensors, taken from the front of an iterator in the order of `tensors`."""
        given = iter(tensors)
        whole = Memory(next(given), next(given), next(given))
        sentence, slot = next(given), None if self.sharing.slot is None else next(given)
        return SharedMemory(whole, Sharing(sentence, self.sharing.beam, slot))


def _not_alike(memories: tuple[Memory, ...], rows: Tensor) -> Refusal:
    first = memories[0] if memories else None
    if isinstance(first, SharedMemory):
        alike = all(isinstance(one, SharedMemory) and one.sharing is first.sharing for one in memories)
    else:
        alike = first is not None and all(type(one) is Memory and len(one.real) == len(first.real) for one in memories)
    return None if alike else "the memories are not of the same sentences, or not of this package"


@replaces(select_sentences, unless=_not_alike)
def share_sentences(memories: tuple[Memory, ...], rows: Int[Tensor, " rows"]) -> tuple[Memory, ...]:
    """Selects rows without a copy of the memory for each row.

    On the CPU, sentences without rows are dropped, and a memory with one row for each sentence becomes a plain `Memory`
    again.
    """
    first = memories[0]
    sharing = first.sharing if isinstance(first, SharedMemory) else None
    wholes = [one.whole if isinstance(one, SharedMemory) else one for one in memories]
    sharing, kept = _selected(sharing, rows, len(wholes[0].real))
    if kept is not None:
        wholes = [whole.select(kept) for whole in wholes]
    return tuple(wholes if sharing is None else (SharedMemory(whole, sharing) for whole in wholes))


def _selected(
    sharing: Sharing | None, rows: Int[Tensor, " rows"], sentences: int
) -> tuple[Sharing | None, Int[Tensor, " kept"] | None]:
    """The sharing after `select(rows)`, and which sentences to keep.

    A sharing of None means one row for each sentence; kept = None means that no sentence is dropped. On a GPU all
    sentences are kept, and nothing is counted: that needs a device sync.
    """
    sentence = rows if sharing is None else sharing.sentence.index_select(0, rows)
    if rows.device.type != "cpu":
        return Sharing(sentence), None
    if sentences == 1 and len(rows):
        return (Sharing(sentence, len(rows)) if len(rows) > 1 else None), None
    kept, sentence, counts = torch.unique(sentence, return_inverse=True, return_counts=True)
    remaining = None if len(kept) == sentences else kept
    before = counts.cumsum(0) - counts
    place = torch.arange(len(rows)) - before[sentence]
    if bool((place < 0).any()) or bool((place >= counts[sentence]).any()) or not len(rows):
        return Sharing(sentence), remaining  # the rows of a sentence are not neighbours
    beam = int(counts.max())
    if beam == 1:
        return None, remaining
    full = len(rows) == len(kept) * beam
    return Sharing(sentence, beam, None if full else sentence * beam + place), remaining


def _not_shared(
    attention: Attention,
    query: Tensor,
    memory: Memory,
    position: int,
    *,
    weights: Tensor | None = None,
    trace: bool = False,
) -> Refusal:
    return None if isinstance(memory, SharedMemory) else "no rows share a sentence"


def _bypassed(attention: Attention, *_: object, **__: object) -> tuple[object]:
    return (attention,)


@replaces(look_at_source, unless=_not_shared, bypasses=_bypassed, name="look_at_source_shared")
@replaces(look, unless=_not_shared, bypasses=_bypassed)
def look_shared(
    attention: Attention,
    query: Float[Tensor, "rows target query"],
    memory: SharedMemory,
    position: int,
    *,
    weights: Float[Tensor, "rows head target source"] | None = None,
    trace: bool = False,
) -> Attended:
    """The rows of one sentence as its target axis where the mechanism allows it, else a copy of the memory for each."""
    whole, sharing = memory.whole, memory.sharing
    if weights is not None or trace or sharing.beam is None or query.shape[1] != 1 or not _independent(attention):
        return attention(query, memory.copied(), position, weights=weights, trace=trace)
    sentences, beam, width = len(whole.real), sharing.beam, query.shape[-1]
    if sharing.slot is None:
        together = query.reshape(sentences, beam, width)
    else:
        together = query.new_zeros(sentences * beam, width).index_copy_(0, sharing.slot, query[:, 0])
        together = together.view(sentences, beam, width)
    seen = attention(together, whole, position)
    context = seen.context.flatten(0, 1)
    flat_weights = None if seen.weights is None else seen.weights.transpose(1, 2).flatten(0, 1)
    if sharing.slot is not None:
        context = context.index_select(0, sharing.slot)
        flat_weights = None if flat_weights is None else flat_weights.index_select(0, sharing.slot)
    return Attended(context[:, None], None if flat_weights is None else flat_weights[:, :, None])


def _independent(attention: Attention) -> bool:
    """Whether queries side by side on the target axis give what each would give alone, all at the same step."""
    if type(attention) not in OWN_MECHANISMS:  # a subclass may compute something else
        return False
    return type(attention) is NoAttention or type(attention.window) in (GlobalWindow, LocalP)  # type: ignore[attr-defined]
