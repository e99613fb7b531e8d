"""`TrainingJob`: what stays the same during a run; `Progress`: what changes, except weights and random states."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch

from regard.bundle.store import save_bundle
from regard.models.seq2seq import Seq2Seq
from regard.training.interrupt import Interrupt
from regard.training.journal import Journal, Warned
from regard.training.optimizer_step import TrainStep
from regard.training.portable import portable_recipe
from regard.training.prepare import Prepared
from regard.training.recipe import Recipe
from regard.training.train_config import Metric, TrainConfig
from regard.training.world import World

Ending = Literal["steps", "early"]


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


@dataclass(frozen=True)
class Progress:
    """`batch` counts the batches of `epoch` that are done; `finished` is the reason why the run ended."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    best_score: float | None = None
    best_step: int | None = None
    best_loss: float | None = None
    stale: int = 0
    plateau: int = 0
    plateau_stale: int = 0
    loss_sum: float = 0.0
    loss_steps: int = 0
    seconds: float = 0.0
    threads: int = 1
    workers: int = 1
    averaged: bool = False
    """Whether the best model is the mean of several."""
    finished: Ending | None = None

    @property
    def train_loss(self) -> float:
        """The mean loss of the steps since the last validation."""
        return self.loss_sum / self.loss_steps if self.loss_steps else float("nan")

    def judged(self, score: float, loss: float, config: TrainConfig) -> "Progress":
        """The progress after a validation: the best score, validations without improvement, the plateau schedule."""
        if self.improved(config.metric, score, loss):
            best = replace(self, best_score=score, best_step=self.step, best_loss=loss)
            counted = replace(best, stale=0, plateau_stale=0)
        else:
            counted = replace(self, stale=self.stale + 1, plateau_stale=self.plateau_stale + 1)
        if counted.plateau_stale > config.plateau_patience:
            counted = replace(counted, plateau=counted.plateau + 1, plateau_stale=0)
        return replace(counted, loss_sum=0.0, loss_steps=0)

    def improved(self, metric: Metric, score: float, loss: float) -> bool:
        """Whether a validation is better than the best; of equal scores, the lower validation loss is better.

        Scores often tie: BLEU is 0.00 in the first validations, and exact match 100 % in the last.
        """
        if math.isnan(score) or self.best_score is None:
            return not math.isnan(score)
        return _rank(metric, score, loss) > _rank(metric, self.best_score, self.best_loss)


def _rank(metric: Metric, score: float, loss: float | None) -> tuple[float, float]:
    """Larger is better; a loss that is not a number, or that an older checkpoint did not record, comes last."""
    known = math.inf if loss is None or math.isnan(loss) else loss
    return (-score if metric == "loss" else score), -known
