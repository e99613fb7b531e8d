"""The parts of a run, put together once; what changes while it runs is its progress."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from regard.models.seq2seq import Seq2Seq
from regard.training.config import TrainConfig
from regard.training.interrupt import Interrupt
from regard.training.journal import Journal
from regard.training.prepare import Prepared
from regard.training.recipe import Recipe
from regard.training.step import Room
from regard.training.world import ALONE, Replica, World

LONGEST_SOURCE = 1000
"""Pieces a model accepts at most where the recipe sets no limit."""


@dataclass(frozen=True)
class Job:
    """`total` steps are planned; `generator` throws the coins of teacher forcing, the same ones for every worker."""

    recipe: Recipe
    folder: Path
    data: Prepared
    model: Seq2Seq
    optimizer: Optimizer
    generator: torch.Generator
    room: Room
    journal: Journal
    interrupt: Interrupt
    total: int
    autocast: torch.dtype | None
    world: World
    replica: Replica = ALONE
    """What gradients are computed with, once the rehearsal is over."""

    @property
    def config(self) -> TrainConfig:
        return self.recipe.train

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def last(self) -> Path:
        """The checkpoint to go on from."""
        return self.folder / "last"

    @property
    def best(self) -> Path:
        """The bundle to translate with."""
        return self.folder / "best"

    @property
    def _longest_source(self) -> int:
        most = self.recipe.model.most_pieces
        return LONGEST_SOURCE if most is None else min(LONGEST_SOURCE, most - int(self.recipe.text.source_eos))

    def about(self, **trained: Any) -> dict[str, Any]:
        """What the manifest of a bundle says about the run it comes from."""
        return {
            "source_eos": self.recipe.text.source_eos,
            "longest_source": self.recipe.text.longest_source or self._longest_source,
            "search": self.recipe.search.model_dump(mode="json"),
            "recipe": self.recipe.model_dump(mode="json"),
            "trained": trained,
        }
