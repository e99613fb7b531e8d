"""The training loop: optimizer steps, validation, checkpoints, and when it ends."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from regard.data.batching import EpochBatcher, Indices
from regard.text.input_error import FailedElsewhere
from regard.training.average import keep_weights, try_average
from regard.training.checkpoint import save_checkpoint, save_first_best
from regard.training.job import Progress, TrainingJob
from regard.training.journal import Stepped, Validated
from regard.training.optimizer import learning_rate, teacher_forcing
from regard.training.optimizer_step import MicroBatch, StepOutcome
from regard.training.validate import validate
from regard.training.world import World

MOST_SKIPPED = 20
"""Updates skipped in a row, without a finite gradient, before the run fails."""


class Diverged(RuntimeError):
    """No finite gradient in many steps in a row."""


@dataclass(frozen=True)
class StepPlan:
    """This worker's micro-batches of one optimizer step, the target pieces of all workers, the place in the epoch."""

    micro_batches: list[MicroBatch]
    tokens: int
    epoch: int
    batches_done: int
    ends_epoch: bool
    ends_run: bool


def run_loop(job: TrainingJob, progress: Progress) -> Progress:
    """Train until the steps are done, validation no longer improves, or a signal interrupts."""
    config = job.config
    began, skipped = time.perf_counter() - progress.seconds, 0
    job.model.train()
    for plan in _plan_steps(job, progress):
        step = progress.step + 1
        rate = learning_rate(config, step, job.total, progress.plateau)
        for group in job.step.optimizer.param_groups:
            group["lr"] = rate
        job.world.seed_step(config.seed, step)
        start = time.perf_counter()
        outcome = job.step(plan.micro_batches, plan.tokens, partial(job.warn, step))
        now = time.perf_counter()
        progress = _advance(progress, plan, outcome, now - began)
        skipped = 0 if outcome.finite else _count_skipped(job, step, skipped)
        speed = outcome.tokens / (now - start)
        job.journal.write(Stepped(step, plan.epoch, outcome.loss, rate, outcome.gradient_norm, speed, progress.seconds))

        validating = plan.ends_run or _is_due(step, config.validate_every, plan.ends_epoch)
        if validating:
            progress = replace(_validate(job, progress), seconds=time.perf_counter() - began)
        if plan.ends_run:
            progress = replace(progress, finished="steps")
        elif config.patience is not None and progress.stale >= config.patience:
            progress = replace(progress, finished="early")
        if progress.finished and config.average:
            progress = job.world.broadcast(try_average(job, progress) if job.world.writer else progress)
        interrupted = job.world.any(job.interrupt.requested)  # read once: saving and ending must agree
        saving = validating or interrupted or _is_due(step, config.checkpoint_every, False)
        if saving and job.world.writer:
            save_checkpoint(job, progress)
            save_first_best(job.folder, progress, config.metric)
        if progress.finished or interrupted:
            break
    return progress


def _plan_steps(job: TrainingJob, progress: Progress) -> Iterator[StepPlan]:
    """The micro-batches of each optimizer step, from the current position of the run."""
    config, skip = job.config, progress.batch
    step = progress.step
    for epoch in itertools.count(progress.epoch):
        batcher = job.data.batcher_for(epoch)
        batches = batcher.plan(epoch)
        for first in range(skip, len(batches), config.accumulate):
            step += 1
            after = min(first + config.accumulate, len(batches))
            share = teacher_forcing(config, step, job.total)
            tokens, micro_batches = 0, []
            for items in batches[first:after]:
                steps = batcher.decoder_steps(items)
                tokens += int(steps.sum())
                forced = _draw_forced(job.generator, int(batcher.padded(steps).max()), share)
                micro_batches.append(_own_rows(batcher, items, forced, job.world))
            # A worker without rows computes one row anyway: the other workers wait for its gradients.
            needed = [one for one in micro_batches if one.counts] or micro_batches[:1]
            ends_epoch = after == len(batches)
            ends_run = step == config.steps or (ends_epoch and epoch + 1 == config.epochs)
            yield StepPlan(needed, tokens, epoch, after, ends_epoch, ends_run)
        skip = 0


def _own_rows(batcher: EpochBatcher, items: Indices, forced: Tensor | None, world: World) -> MicroBatch:
    """This worker's rows of a batch: every `world.size`-th one, so that workers get rows of similar lengths."""
    mine = items[world.rank :: world.size]
    return MicroBatch(batcher.batch(mine if len(mine) else items[:1]), forced, counts=len(mine) > 0)


def _draw_forced(generator: torch.Generator, steps: int, share: float) -> Tensor | None:
    """Which decoder steps of a batch read the true word: each with probability `share`; None: all."""
    return None if share >= 1 else torch.rand(steps, generator=generator) < share


def _advance(progress: Progress, plan: StepPlan, outcome: StepOutcome, seconds: float) -> Progress:
    return replace(
        progress,
        step=progress.step + 1,
        epoch=plan.epoch + 1 if plan.ends_epoch else plan.epoch,
        batch=0 if plan.ends_epoch else plan.batches_done,
        loss_sum=progress.loss_sum + (outcome.loss if outcome.finite else 0.0),
        loss_steps=progress.loss_steps + outcome.finite,
        seconds=seconds,
    )


def _is_due(step: int, every: int | None, otherwise: bool) -> bool:
    return otherwise if every is None else step % every == 0


def _count_skipped(job: TrainingJob, step: int, skipped: int) -> int:
    """Warn about the first skipped update in a row; raise after too many."""
    if skipped == 0:
        job.warn(step, f"step {step}: the gradient is not finite; this update was skipped")
    if skipped + 1 == MOST_SKIPPED:
        if not job.world.writer:
            raise FailedElsewhere(f"no finite gradient in {MOST_SKIPPED} steps, which worker 0 reports")
        kept = f"; the checkpoint in {job.last} is kept" if job.last.exists() else ""
        raise Diverged(
            f"no finite gradient in {MOST_SKIPPED} steps up to step {step}: lower train.learning_rate "
            f"(now {job.config.learning_rate}) or train.clip (now {job.config.clip}), and start again{kept}"
        )
    return skipped + 1


def _validate(job: TrainingJob, progress: Progress) -> Progress:
    """Score the development set, save the model if it is the best, and count validations without improvement."""
    config = job.config
    scores = validate(job.model, job.data, config.metric, job.recipe.search, job.world)
    judged = progress.judged(scores.score, scores.loss, config)
    best = judged.best_step == progress.step
    if best and job.world.writer and (job.last.exists() or job.best.exists()):  # the first one follows its checkpoint
        job.save_best(job.model, steps=progress.step, **{config.metric: scores.score})
    if config.average and job.world.writer:
        keep_weights(job, progress.step)
    job.journal.write(
        Validated(
            step=progress.step,
            epoch=progress.epoch,
            train_loss=progress.train_loss,
            loss=scores.loss,
            metric=config.metric,
            score=scores.score,
            best=best,
            sample=scores.sample,
            seconds=progress.seconds,
        )
    )
    return judged
