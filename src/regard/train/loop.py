"""The training loop: read it from top to bottom."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from regard.bundle.store import Bundle, save_bundle, weights_of
from regard.data.batch import Batch
from regard.data.batching import Batcher
from regard.data.pair import Pair
from regard.train.average import keep_weights
from regard.train.checkpoint import Progress, save_checkpoint
from regard.train.config import TrainConfig
from regard.train.interrupt import Interrupt
from regard.train.journal import Finished, Journal, Stepped, Validated, Warned
from regard.train.optimizer import set_learning_rate
from regard.train.recipe import Recipe
from regard.train.schedule import learning_rate, teacher_forcing
from regard.train.step import train_step
from regard.train.validate import better, validate

HOPELESS = 20
"""Steps in a row without a finite gradient before a run gives up."""


class Diverged(RuntimeError):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Job:
    """The parts of a run that do not change while it runs."""

    recipe: Recipe
    folder: Path
    bundle: Bundle
    optimizer: Optimizer
    generator: torch.Generator
    batcher: Batcher
    dev: list[Pair]
    dev_batcher: Batcher
    journal: Journal
    interrupt: Interrupt
    about: dict[str, Any]
    total: int
    autocast: torch.dtype | None

    @property
    def config(self) -> TrainConfig:
        return self.recipe.train

    @property
    def device(self) -> torch.device:
        return next(self.bundle.model.parameters()).device


def run_loop(job: Job, progress: Progress) -> Progress:
    """Train until the steps are done, validation stands still, or somebody interrupts."""
    model, config = job.bundle.model, job.config
    model.train()
    began, lost, unsaved = time.perf_counter() - progress.seconds, 0, False
    reason = "steps"
    for epoch, group, last in _groups(job, progress):
        start = time.perf_counter()
        step = progress.step + 1
        rate = learning_rate(config, step, job.total, progress.plateau)
        set_learning_rate(job.optimizer, rate)
        outcome = train_step(
            model, job.optimizer, group, config,
            forced=lambda n: _coins(job, n, teacher_forcing(config, step, job.total)),
            autocast=job.autocast,
            warn=lambda message: job.journal.tell(Warned(message)),
        )  # fmt: skip
        lost = _check_finite(job, outcome.gradient_norm, step, lost)
        now = time.perf_counter()
        progress = progress.moved(
            step=step, epoch=epoch + 1 if last else epoch, batch=0 if last else progress.batch + len(group),
            seconds=now - began, loss_sum=progress.loss_sum + outcome.loss, loss_steps=progress.loss_steps + 1,
        )  # fmt: skip
        speed = outcome.tokens / (now - start)
        job.journal.tell(Stepped(step, epoch, outcome.loss, rate, outcome.gradient_norm, speed, progress.seconds))
        unsaved = True
        if last if config.validate_every is None else step % config.validate_every == 0:
            progress = _validate(job, progress, began)
            _save(job, progress)
            unsaved = False
            if config.patience is not None and progress.stale >= config.patience:
                reason = "early"
                break
        elif config.checkpoint_every is not None and step % config.checkpoint_every == 0:
            _save(job, progress)
            unsaved = False
        if job.interrupt.asked:
            reason = "interrupted"
            break
        if step >= job.total and config.steps is not None:
            break
    if unsaved:
        if reason != "interrupted":
            progress = _validate(job, progress, began)
        _save(job, progress)
    job.journal.tell(Finished(progress.step, reason, progress.best_score, progress.best_step, progress.seconds))
    return progress


def _groups(job: Job, progress: Progress) -> Iterator[tuple[int, list[Batch], bool]]:
    """The batches of each optimizer step from where the run stands: (epoch, batches, whether they end the epoch)."""
    epochs = range(progress.epoch, job.config.epochs) if job.config.epochs else itertools.count(progress.epoch)
    skip = progress.batch
    for epoch in epochs:
        plan = job.batcher.plan(epoch)
        for first in range(skip, len(plan), job.config.accumulate):
            after = min(first + job.config.accumulate, len(plan))
            yield epoch, [job.batcher.batch(items).to(job.device) for items in plan[first:after]], after == len(plan)
        skip = 0


def _coins(job: Job, steps: int, share: float) -> Tensor | None:
    """Which decoder steps read the true word: one coin for each step of the batch, heads with probability `share`."""
    if share >= 1:
        return None
    return torch.rand(steps, generator=job.generator) < share


def _check_finite(job: Job, norm: float, step: int, lost: int) -> int:
    if norm == norm and abs(norm) != float("inf"):
        return 0
    if lost == 0:
        job.journal.tell(Warned(f"step {step}: the gradient is not finite; this update was left out"))
    if lost + 1 >= HOPELESS:
        raise Diverged(
            f"no finite gradient in {HOPELESS} steps up to step {step}: lower train.learning_rate "
            f"(now {job.config.learning_rate}) or train.clip, then start again; the last good checkpoint is kept"
        )
    return lost + 1


def _validate(job: Job, progress: Progress, began: float) -> Progress:
    config = job.config
    verdict = validate(job.bundle, job.dev, job.dev_batcher, config.metric, job.recipe.search)
    improved = better(config.metric, verdict.score, progress.best_score)
    plateau_stale = 0 if improved else progress.plateau_stale + 1
    fell = plateau_stale > config.plateau_patience
    train_loss = progress.loss_sum / max(1, progress.loss_steps)
    progress = progress.moved(
        best_score=verdict.score if improved else progress.best_score,
        best_step=progress.step if improved else progress.best_step,
        stale=0 if improved else progress.stale + 1,
        plateau=progress.plateau + fell,
        plateau_stale=0 if fell else plateau_stale,
        loss_sum=0.0,
        loss_steps=0,
        seconds=time.perf_counter() - began,
    )
    if improved:
        about = {**job.about, "trained": {"steps": progress.step, config.metric: verdict.score}}
        save_bundle(job.folder / "best", job.bundle.model, job.bundle.source, job.bundle.target, **about)
    if config.average:
        keep_weights(job.folder, weights_of(job.bundle.model), progress.step, config.average)
    job.journal.tell(
        Validated(
            progress.step,
            progress.epoch,
            train_loss,
            verdict.loss,
            config.metric,
            verdict.score,
            improved,
            verdict.sample,
            progress.seconds,
        )  # fmt: skip
    )
    return progress


def _save(job: Job, progress: Progress) -> None:
    about = {**job.about, "trained": {"steps": progress.step}}
    save_checkpoint(job.folder / "last", job.bundle, job.optimizer, progress, job.generator, about)
