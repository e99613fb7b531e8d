"""The training loop: read it from top to bottom."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from regard.bundle.store import save_bundle
from regard.data.batching import Batcher, Indices
from regard.models.seq2seq import Seq2Seq
from regard.training.average import averaged, keep_weights
from regard.training.checkpoint import save_checkpoint, save_first_best
from regard.training.job import Job
from regard.training.journal import Averaged, Stepped, Validated, Warned
from regard.training.optimizer import set_learning_rate
from regard.training.progress import Progress
from regard.training.schedule import learning_rate, teacher_forcing
from regard.training.step import Outcome, Portion, train_step
from regard.training.validate import validate
from regard.training.world import Elsewhere, World

HOPELESS = 20
"""Steps in a row without a finite gradient before a run gives up."""


class Diverged(RuntimeError):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Group:
    """This worker's batches of one optimizer step, the target pieces of all workers, and where they leave the epoch."""

    portions: list[Portion]
    tokens: int
    epoch: int
    batches_done: int
    ends_epoch: bool
    ends_run: bool


def run_loop(job: Job, progress: Progress) -> Progress:
    """Train until the steps are done, validation stands still, or somebody interrupts."""
    config = job.config
    began, lost = time.perf_counter() - progress.seconds, 0
    job.model.train()
    for group in _groups(job, progress):
        rate = learning_rate(config, progress.step + 1, job.total, progress.plateau)
        set_learning_rate(job.optimizer, rate)
        job.world.vary(config.seed, progress.step + 1)
        start = time.perf_counter()
        outcome = train_step(
            job.model, job.optimizer, group.portions, config, tokens=group.tokens, room=job.room,
            replica=job.replica, autocast=job.autocast, warn=partial(_warn, job, progress.step + 1),
        )  # fmt: skip
        now = time.perf_counter()
        progress = _advance(progress, group, outcome, now - began)
        lost = 0 if outcome.finite else _lose(job, progress.step, lost)
        speed = outcome.tokens / (now - start)
        job.journal.tell(
            Stepped(progress.step, group.epoch, outcome.loss, rate, outcome.gradient_norm, speed, progress.seconds)
        )

        validating = group.ends_run or _is_due(progress.step, config.validate_every, group.ends_epoch)
        if validating:
            progress = replace(_validate(job, progress), seconds=time.perf_counter() - began)
        if group.ends_run:
            progress = replace(progress, finished="steps")
        elif config.patience is not None and progress.stale >= config.patience:
            progress = replace(progress, finished="early")
        if progress.finished and config.average:
            progress = job.world.tell(_average(job, progress) if job.world.writer else progress)
        interrupted = job.world.any(job.interrupt.asked)  # read once: what is left now must have been saved
        saving = validating or interrupted or _is_due(progress.step, config.checkpoint_every, False)
        if saving and job.world.writer:
            save_checkpoint(job, progress)
            save_first_best(job.folder, progress, config.metric)
        if progress.finished or interrupted:
            break
    return progress


def _groups(job: Job, progress: Progress) -> Iterator[Group]:
    """The work of each optimizer step from where the run stands."""
    config, skip = job.config, progress.batch
    step = progress.step
    for epoch in itertools.count(progress.epoch):
        batcher = job.data.batcher_for(epoch)
        plan = batcher.plan(epoch)
        for first in range(skip, len(plan), config.accumulate):
            step += 1
            after = min(first + config.accumulate, len(plan))
            share = teacher_forcing(config, step, job.total)
            tokens, portions = 0, []
            for items in plan[first:after]:
                steps = batcher.decoder_steps(items)
                tokens += int(steps.sum())
                coins = _coins(job.generator, int(batcher.padded(steps).max()), share)
                portions.append(_portion(batcher, items, coins, job.world))
            ends_epoch = after == len(plan)
            ends_run = step == config.steps or (ends_epoch and epoch + 1 == config.epochs)
            yield Group(_needed(portions), tokens, epoch, after, ends_epoch, ends_run)
        skip = 0


def _portion(batcher: Batcher, items: Indices, coins: Tensor | None, world: World) -> Portion:
    """This worker's share of a batch: every so-many-th row, so that all shares are of like lengths."""
    mine = items[world.rank :: world.size]
    return Portion(batcher.batch(mine if len(mine) else items[:1]), coins, counts=len(mine) > 0)


def _needed(portions: list[Portion]) -> list[Portion]:
    """Those that count, but never none: the other workers wait for this one's gradients."""
    return [portion for portion in portions if portion.counts] or portions[:1]


def _coins(generator: torch.Generator, steps: int, share: float) -> Tensor | None:
    """Which decoder steps read the true word: one coin for each step of the batch, heads with probability `share`."""
    return None if share >= 1 else torch.rand(steps, generator=generator) < share


def _advance(progress: Progress, group: Group, outcome: Outcome, seconds: float) -> Progress:
    return replace(
        progress,
        step=progress.step + 1,
        epoch=group.epoch + 1 if group.ends_epoch else group.epoch,
        batch=0 if group.ends_epoch else group.batches_done,
        loss_sum=progress.loss_sum + (outcome.loss if outcome.finite else 0.0),
        loss_steps=progress.loss_steps + outcome.finite,
        seconds=seconds,
    )


def _is_due(step: int, every: int | None, otherwise: bool) -> bool:
    return otherwise if every is None else step % every == 0


def _warn(job: Job, step: int, message: str) -> None:
    job.journal.tell(Warned(step, message))


def _lose(job: Job, step: int, lost: int) -> int:
    """Count the updates that were left out in a row; too many, and there is no hope."""
    if lost == 0:
        _warn(job, step, f"step {step}: the gradient is not finite; this update was left out")
    if lost + 1 == HOPELESS:
        if not job.world.writer:
            raise Elsewhere(f"no finite gradient in {HOPELESS} steps, which the writer says")
        kept = f"; the checkpoint in {job.last} is kept" if job.last.exists() else ""
        raise Diverged(
            f"no finite gradient in {HOPELESS} steps up to step {step}: lower train.learning_rate "
            f"(now {job.config.learning_rate}) or train.clip (now {job.config.clip}), and start again{kept}"
        )
    return lost + 1


def _validate(job: Job, progress: Progress) -> Progress:
    config = job.config
    verdict = validate(job.model, job.data, config.metric, job.recipe.search, job.world)
    judged = progress.judged(verdict.score, verdict.loss, config)
    best = judged.best_step == progress.step
    if best and job.world.writer and (job.last.exists() or job.best.exists()):  # the first one follows its checkpoint
        _save_best(job, job.model, steps=progress.step, **{config.metric: verdict.score})
    if config.average and job.world.writer:
        keep_weights(job, progress.step)
    job.journal.tell(
        Validated(
            step=progress.step,
            epoch=progress.epoch,
            train_loss=progress.train_loss,
            loss=verdict.loss,
            metric=config.metric,
            score=verdict.score,
            best=best,
            sample=verdict.sample,
            seconds=progress.seconds,
        )
    )
    return judged


def _average(job: Job, progress: Progress) -> Progress:
    """Put the averaged weights into `best/` where they beat it on the development set."""
    mean = averaged(job, partial(_warn, job, progress.step))
    if mean is None:
        return progress
    model, count = mean
    metric = job.config.metric
    verdict = validate(model, job.data, metric, job.recipe.search)
    best = progress.improved(metric, verdict.score, verdict.loss)
    if best:
        _save_best(job, model, steps=progress.step, averaged=count, **{metric: verdict.score})
        progress = replace(
            progress, best_score=verdict.score, best_step=progress.step, best_loss=verdict.loss, averaged=True
        )
    job.journal.tell(Averaged(progress.step, count, verdict.loss, metric, verdict.score, best))
    return progress


def _save_best(job: Job, model: Seq2Seq, **trained: Any) -> None:
    save_bundle(job.best, model, job.data.source, job.data.target, **job.about(**trained))
