"""`TrainingJob`: the parts of a run that do not change while it runs; `Progress` has those that do."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.bundle.store import save_bundle
from regard.models.seq2seq import Seq2Seq
from regard.training.interrupt import Interrupt
from regard.training.journal import Journal, Warned
from regard.training.optimizer_step import TrainStep
from regard.training.portable import portable_recipe
from regard.training.prepare import Prepared
from regard.training.recipe import Recipe
from regard.training.train_config import TrainConfig
from regard.training.world import World


@dataclass(frozen=True)
class TrainingJob:
    """`total` steps are planned; `generator` draws which steps are teacher-forced, the same ones for every worker."""

    recipe: Recipe
    folder: Path
    data: Prepared
    step: TrainStep
    generator: torch.Generator
    journal: Journal
    interrupt: Interrupt
    total: int
    world: World

    @property
    def config(self) -> TrainConfig:
        return self.recipe.train

    @property
    def model(self) -> Seq2Seq:
        return self.step.model

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def last(self) -> Path:
        """The checkpoint to resume from."""
        return self.folder / "last"

    @property
    def best(self) -> Path:
        """The bundle to translate with."""
        return self.folder / "best"

    def warn(self, step: int, message: str) -> None:
        self.journal.write(Warned(step, message))

    def save_best(self, model: Seq2Seq, **trained: Any) -> None:
        save_bundle(self.best, model, self.data.source, self.data.target, **self.about(**trained))

    def about(self, **trained: Any) -> dict[str, Any]:
        """The manifest's entries about the run that a bundle comes from."""
        return {
            "source_eos": self.recipe.text.source_eos,
            "longest_source": self.data.longest_source,
            "search": self.recipe.search.model_dump(mode="json"),
            "recipe": portable_recipe(self.recipe, self.folder),
            "trained": trained,
        }
