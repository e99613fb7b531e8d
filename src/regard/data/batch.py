"""A batch: padded ids of some pairs, ready for a model."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.data.guidance import Guidance
from regard.text.special import PAD


@dataclass(frozen=True)
class Batch:
    """Rows are pairs, padded with PAD on the right.

    A target row is BOS y1 … yn EOS; the decoder reads `target_in` and must predict `target_out`:

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
    guidance: Guidance[Tensor] | None = None
    """The links that attention is trained to follow, for guided training."""

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

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def halves(self) -> tuple["Batch", "Batch"]:
        """The first and the second half of the rows, each padded to its own longest row: for retries out of memory."""
        if self.rows < 2:
            raise ValueError("a batch of one row cannot be halved: lower the limits on sentence length")
        middle = self.rows // 2
        return self._cut(slice(0, middle)), self._cut(slice(middle, self.rows))

    def twice(self) -> "Batch":
        """Every row once more, after all of them."""
        return self._map(lambda tensor: torch.cat([tensor, tensor]))

    def _cut(self, rows: slice) -> "Batch":
        source_lengths, target_lengths = self.source_lengths[rows], self.target_lengths[rows]
        source, target = int(source_lengths.max()), int(target_lengths.max())
        return Batch(
            self.source[rows, :source],
            source_lengths,
            self.target[rows, : target + 1],
            target_lengths,
            self.indices[rows],
            self.guidance and self.guidance.map(lambda links: links[rows, :target, :source]),
        )

    def _map(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """The batch with every tensor changed."""
        tensors = {name: change(value) for name, value in vars(self).items() if name != "guidance"}
        return Batch(**tensors, guidance=self.guidance and self.guidance.map(change))
