"""The benchmarked work: sizes of a model and of its batches."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from regard.data.batch import Batch
from regard.models.model_config import RecurrentConfig


@dataclass(frozen=True)
class Work:
    """A bidirectional encoder and a decoder with additive attention at its input, on full batches."""

    name: str
    cell: Literal["gru", "lstm"]
    vocabulary: int
    embedding: int
    units: int
    width: int
    rows: int
    source: int
    target: int
    readout: Literal["state-context", "state-context-embedding"] = "state-context-embedding"

    @property
    def config(self) -> RecurrentConfig:
        """Our model of these sizes, its first state zero as in the textbook loop."""
        sizes = {"embedding": self.embedding, "encoder_units": self.units, "decoder_units": self.units}
        choices = {"cell": self.cell, "readout": self.readout, "initial": "zero", "dropout": 0.0}
        return RecurrentConfig.model_validate({**sizes, **choices, "attention_width": self.width})

    def batch(self, seed: int = 0, lengths: tuple[int, int] | None = None) -> Batch:
        """Random words; every row is full unless a range of lengths is given."""
        random = torch.Generator().manual_seed(seed)
        source_lengths, target_lengths = (
            torch.full((self.rows,), longest)
            if lengths is None
            else torch.randint(lengths[0], lengths[1] + 1, (self.rows,), generator=random).clamp_(max=longest)
            for longest in (self.source, self.target)
        )
        return Batch(
            _words(source_lengths, self.source, self.vocabulary, random),
            source_lengths,
            _words(target_lengths + 1, self.target + 1, self.vocabulary, random),
            target_lengths,
            torch.arange(self.rows),
        )

    @property
    def products(self) -> list[tuple[int, int, int]]:
        """Rows, inner and columns of every matrix product of a forward pass; backward has two of each."""
        gates = (3 if self.cell == "gru" else 4) * self.units
        wide = 2 * self.units
        readout = self.units + wide + (self.embedding if self.readout == "state-context-embedding" else 0)
        once = [
            (self.source * self.rows, self.embedding, 2 * gates),
            (self.source * self.rows, wide, self.width),
            (self.target * self.rows, self.embedding, gates),
            (self.target * self.rows, readout, self.vocabulary),
        ]
        each_step = [(self.rows, self.units, self.width), (self.rows, wide, gates), (self.rows, self.units, gates)]
        return once + [(self.rows, self.units, gates)] * (2 * self.source) + each_step * self.target


def _words(lengths: Tensor, longest: int, vocabulary: int, random: torch.Generator) -> Tensor:
    words = torch.randint(4, vocabulary, (len(lengths), longest), generator=random)
    return torch.where(torch.arange(longest)[None] < lengths[:, None], words, 0)


PAPER = Work("paper", "gru", 30_000, 620, 1000, 1000, 80, 50, 50)
"""RNNsearch's sizes, on the batches of the paper."""

TUTORIAL = Work("tutorial", "lstm", 51, 64, 128, 64, 64, 12, 13, "state-context")
"""The reverse task of the tutorials."""

MULTI30K = Work("multi30k", "gru", 8000, 256, 512, 512, 64, 15, 15)
"""A model for image captions: BPE of 8,000 pieces."""

WORKS = {work.name: work for work in (TUTORIAL, MULTI30K, PAPER)}
