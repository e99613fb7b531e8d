"""`regard.train`: a recipe becomes a run folder with the best model in it."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

import regard
from regard.training.average import forget_after
from regard.training.checkpoint import Checkpoint, device_name, load_checkpoint, restore, save_first_best
from regard.training.device import pick_device, torch_settings
from regard.training.dry_run import dry_run
from regard.training.job import Progress, TrainingJob
from regard.training.journal import NAME, Finished, Journal, Listener, Started, Warned, read_journal
from regard.training.loss_curve import draw_curve
from regard.training.recipe import Recipe, load_recipe, parse_recipe
from regard.training.run_folder import Claim, check_folder, own_classes
from regard.training.setup import check_same, set_up
from regard.training.tensorboard import TensorBoard
from regard.training.train_config import Metric
from regard.training.training_loop import run_loop
from regard.training.world import Replica, World, join

FEW_STEPS = 300
"""A run with fewer steps gets a note: hardly any model learns to translate in so few."""


@dataclass(frozen=True)
class Result:
    """How a run ended; `reason` is steps, early or interrupted, `steps` the number of steps that this call trained."""

    folder: Path
    progress: Progress
    reason: str
    metric: Metric
    steps: int


def train(
    recipe: Recipe | str | Path,
    out: Path | str | None = None,
    *,
    overrides: Iterable[str] = (),
    resume: bool = False,
    overwrite: bool = False,
    listener: Listener | None = None,
    trust: Collection[str] = (),
) -> Result:
    """Train what `recipe` describes into the folder `out`; `regard.load(out)` then translates with it.

    Nothing on the disk changes until everything is ready for the first step. Under torchrun, several workers train one
    model and worker 0 writes it. The user's own recipe file may name a class outside regard as its score; a class that
    another recipe or a checkpoint names is imported only if `trust` names it.
    """
    with join() as world:
        with world.fail_together():
            name = "run" if isinstance(recipe, Recipe) else Path(recipe).stem
            if isinstance(recipe, Recipe):
                recipe = parse_recipe(recipe.model_dump(), overrides=overrides)
            else:
                file, recipe = recipe, load_recipe(recipe, overrides)
                trust = own_classes([recipe], file, trust=trust)
            folder = Path(out) if out is not None else Path("runs") / name
            claim = None
            if world.writer:
                if _began(folder, world):
                    resume, overwrite = True, False
                claim = check_folder(folder, recipe, resume=resume, overwrite=overwrite)
            device = pick_device(recipe.train.device, world)
            listeners: list[Listener] = [] if listener is None else [listener]
            if recipe.train.tensorboard and world.writer:
                listeners.append(TensorBoard(folder))
            journal = Journal(folder, listeners, writes=world.writer)
        with torch_settings(recipe.train.seed, device, recipe.train.deterministic):
            result = _train(recipe, folder, claim, journal, device, world, world.broadcast(resume), trust)
        world.gather(None)  # a barrier: all files are written when any worker returns
        return result


def _train(
    recipe: Recipe,
    folder: Path,
    claim: Claim | None,
    journal: Journal,
    device: torch.device,
    world: World,
    resume: bool,
    trust: Collection[str],
) -> Result:
    checkpoint = _read_checkpoint(folder, device, world, trust) if resume else None
    if checkpoint is not None and checkpoint.progress.finished:
        with _writing(claim, world):
            for note in _rewind(folder, recipe, journal, checkpoint.progress):
                journal.notify(Warned(checkpoint.progress.step, note))
            return _end(folder, recipe, journal, checkpoint.progress, steps=0)
    progress = checkpoint.progress if checkpoint else Progress()
    with world.fail_together():
        job = set_up(recipe, folder, journal, device, world, checkpoint, trust)
        same_workers = checkpoint is not None and progress.workers == world.size
        trial = dry_run(job, progress.threads if same_workers else None)
    check_same(job)
    trial = trial.agreed(world)
    job = replace(job, step=replace(job.step, replica=Replica(world, job.model, trial.unused)))
    if checkpoint is not None:
        restore(checkpoint, job)
    torch.set_num_threads(trial.threads)
    with job.interrupt, _writing(claim, world):
        notes = (*_rewind(folder, recipe, journal, progress), *_other_bits(checkpoint, job))
        before, progress = progress.step, replace(progress, threads=trial.threads, workers=world.size)
        journal.write(_started(job, progress, (*notes, *trial.warnings), trial.seconds))
        progress = run_loop(job, progress)
        return _end(folder, recipe, journal, progress, steps=progress.step - before)


def _rewind(folder: Path, recipe: Recipe, journal: Journal, progress: Progress) -> tuple[str, ...]:
    """On worker 0, remove everything written to the folder after the checkpoint; returns notes for the user."""
    if not journal.writes:
        return ()
    journal.rewind(progress.step)
    forget_after(folder, progress.step)
    save_first_best(folder, progress, recipe.train.metric)
    best = folder / "best"
    if progress.best_step is None or best.exists():
        return ()
    missing = f"{best}, the best model so far (step {progress.best_step:,}), is missing"
    return (f"{missing}: last/ is used instead until there is a better one",)


def _other_bits(checkpoint: Checkpoint | None, job: TrainingJob) -> tuple[str, ...]:
    """A warning where the run is resumed under conditions that do not give bit-equal weights."""
    if checkpoint is None:
        return ()
    manifest, device = checkpoint.bundle.manifest, device_name(job.device)
    conditions = {
        "regard": (manifest.regard, regard.__version__),
        "torch": (manifest.torch, torch.__version__),
        "device": (checkpoint.device or device, device),
        "workers": (checkpoint.progress.workers, job.world.size),
    }
    changed = [f"{what} {before} (now {now})" for what, (before, now) in conditions.items() if before != now]
    if not changed:
        return ()
    return (f"the checkpoint was written with {', '.join(changed)}: the run continues, but not with bit-equal weights",)


def _began(folder: Path, world: World) -> bool:
    """Whether this torchrun started the run in the folder, before it restarted its workers."""
    if world.launch is None:
        return False
    started = [entry for entry in read_journal(folder / NAME) if entry["event"] == "started"]
    return bool(started) and started[-1].get("launch") == world.launch


def _read_checkpoint(folder: Path, device: torch.device, world: World, trust: Collection[str]) -> Checkpoint | None:
    """Worker 0 reads it and sends it to the others, whose machines need not see the folder."""
    if world.size == 1:
        return load_checkpoint(folder / "last", device, trust)
    with world.fail_together():
        found = load_checkpoint(folder / "last", torch.device("cpu"), trust) if world.writer else None
    return world.broadcast(found)


@contextmanager
def _writing(claim: Claim | None, world: World) -> Iterator[None]:
    """Worker 0 locks the folder while the block runs."""
    with ExitStack() as held:
        with world.fail_together():
            if claim is not None:
                held.enter_context(claim())
        yield


def _started(job: TrainingJob, progress: Progress, warnings: tuple[str, ...], seconds: float) -> Started:
    """`seconds` is the time of the largest batch."""
    data = job.data
    return Started(
        parameters=job.model.parameters_count,
        train_pairs=len(data.batcher.data),
        dev_pairs=len(data.dev_batcher.data),
        source_vocabulary=len(data.source),
        target_vocabulary=len(data.target),
        total_steps=job.total,
        first_step=progress.step + 1,
        device=str(job.device),
        precision="float32" if job.step.autocast is None else "bf16",
        threads=progress.threads,
        padding=1 - data.batcher.efficiency(),
        notes=tuple(dict.fromkeys((*data.notes, *_few_steps(job), *warnings))),
        workers=job.world.size,
        launch=job.world.launch,
        estimate=seconds * job.config.accumulate * (job.total - progress.step),
    )


def _few_steps(job: TrainingJob) -> tuple[str, ...]:
    """A note where the epochs of a small corpus in large batches end before the model has learnt anything."""
    config = job.config
    if config.steps is not None or job.total >= FEW_STEPS:
        return ()
    batch = "batch_tokens" if config.batch_sentences is None else "batch_sentences"
    epochs = "1 epoch is" if config.epochs == 1 else f"{config.epochs} epochs are"
    return (f"{epochs} only {job.total:,} steps here: to learn more, raise train.epochs or lower train.{batch}",)


def _end(folder: Path, recipe: Recipe, journal: Journal, progress: Progress, steps: int) -> Result:
    """Write the last line of the journal and draw the loss curve."""
    reason = progress.finished or "interrupted"
    journal.write(Finished(progress.step, reason, progress.best_score, progress.best_step, progress.seconds))
    problem = draw_curve(folder) if journal.writes else None
    if problem is not None:
        journal.write(Warned(progress.step, problem))
    return Result(folder, progress, reason, recipe.train.metric, steps)
