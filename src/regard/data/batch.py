"""A batch: padded ids of some pairs, ready for a model."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.data.guidance import Guidance
from regard.text.special import PAD


@dataclass(frozen=True)
class Batch:
    """Rows are pairs, padded with PAD on the right.

    A target row is BOS y1 … yn EOS; the decoder reads `target_in` and is asked for `target_out`:

        target      BOS  le  chat  EOS  PAD
        target_in   BOS  le  chat  EOS            target_lengths = 3
        target_out       le  chat  EOS  PAD
    """

    source: Int[Tensor, "batch source"]
    source_lengths: Int[Tensor, "batch"]
    """Real source ids of each row, EOS counted where the source has one."""
    target: Int[Tensor, "batch target_and_one"]
    target_lengths: Int[Tensor, "batch"]
    """Decoder steps of each row: its target's ids and EOS."""
    indices: Int[Tensor, "batch"]
    """Which items of the data these rows are."""
    guidance: Guidance | None = None
    """Where attention should look, where training is told."""

    @property
    def source_real(self) -> Bool[Tensor, "batch source"]:
        return self.source != PAD

    @property
    def target_in(self) -> Int[Tensor, "batch target"]:
        return self.target[:, :-1]

    @property
    def target_out(self) -> Int[Tensor, "batch target"]:
        return self.target[:, 1:]

    @property
    def rows(self) -> int:
        return self.source.shape[0]

    @property
    def slots(self) -> int:
        """Source and decoder positions that are computed, padding included."""
        return self.source.numel() + self.target_out.numel()

    @property
    def tokens(self) -> int:
        """Real positions among the slots (waits for the device if the batch lies on one)."""
        return int(self.source_lengths.sum() + self.target_lengths.sum())

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        return self._each(lambda part: part.to(device, non_blocking=non_blocking))

    def pin(self) -> "Batch":
        """The batch in page-locked memory, from which `to(device, non_blocking=True)` copies while the device works."""
        return self._each(lambda part: part.pin() if isinstance(part, Guidance) else part.pin_memory())

    def halves(self) -> tuple["Batch", "Batch"]:
        """The first and the second half of the rows, each padded no more than it needs: for when memory ran out."""
        if self.rows < 2:
            raise ValueError("a batch of one row cannot be halved: lower the limits on sentence length")
        middle = self.rows // 2
        return self._cut(slice(0, middle)), self._cut(slice(middle, self.rows))

    def twice(self) -> "Batch":
        """Every row once more, after all of them."""
        return self._each(lambda part: part.twice() if isinstance(part, Guidance) else torch.cat([part, part]))

    def _cut(self, rows: slice) -> "Batch":
        source_lengths, target_lengths = self.source_lengths[rows], self.target_lengths[rows]
        guidance = self.guidance
        if guidance is not None:
            guidance = guidance.cut(rows, int(target_lengths.max()), int(source_lengths.max()))
        return Batch(
            self.source[rows, : int(source_lengths.max())],
            source_lengths,
            self.target[rows, : int(target_lengths.max()) + 1],
            target_lengths,
            self.indices[rows],
            guidance,
        )

    def _each(self, change: Callable[[Any], Any]) -> "Batch":
        """The batch with every part changed that is there."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: change(part) for name, part in parts.items() if part is not None})
