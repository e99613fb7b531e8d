"""`regard.train`: a recipe becomes a run folder with the best model in it."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel

from regard.bundle.store import Bundle, load_bundle
from regard.models.seq2seq import Seq2Seq, outline
from regard.text.errors import InputError
from regard.train.average import forget_after
from regard.train.board import Board
from regard.train.checkpoint import Checkpoint, load_checkpoint, restore
from regard.train.config import Metric
from regard.train.device import pick_device, pick_precision, surroundings
from regard.train.folder import check_folder, claimed, differences
from regard.train.interrupt import Interrupt
from regard.train.job import Job
from regard.train.journal import NAME, Finished, Journal, Listener, Preparing, Started, Warned, read_journal
from regard.train.loop import run_loop
from regard.train.optimizer import build_optimizer
from regard.train.picture import draw_curve
from regard.train.prepare import Prepared, fingerprint, prepare
from regard.train.progress import Progress
from regard.train.recipe import Recipe, load_recipe, parse_recipe
from regard.train.rehearse import rehearse
from regard.train.step import Room
from regard.train.vectors import start_vectors
from regard.train.world import Replica, World, join

FEW = 300
"""Steps in which hardly any model learns to translate."""


@dataclass(frozen=True)
class Result:
    """Where a run ended and what it found; `reason` is steps, early or interrupted, `steps` what this call trained."""

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
) -> Result:
    """Train what `recipe` describes into the folder `out`; `regard.load(out)` then translates with it.

    Until everything is ready for the first step, nothing on the disk changes. Started by torchrun, several workers
    train one model; the first of them writes it.
    """
    with join() as world:
        with world.together():
            name = "run" if isinstance(recipe, Recipe) else Path(recipe).stem
            if isinstance(recipe, Recipe):
                recipe = parse_recipe(recipe.model_dump(), overrides=overrides)
            else:
                recipe = load_recipe(recipe, overrides)
            folder = Path(out) if out is not None else Path("runs") / name
            if world.writer:
                if _began(folder, world):
                    resume, overwrite = True, False
                check_folder(folder, recipe, resume=resume, overwrite=overwrite)
            device = pick_device(recipe.train.device, world)
            listeners: list[Listener] = [] if listener is None else [listener]
            if recipe.train.tensorboard and world.writer:
                listeners.append(Board(folder))
            journal = Journal(folder, listeners, writes=world.writer)
        with surroundings(recipe.train.seed, device, recipe.train.deterministic):
            result = _train(recipe, folder, journal, device, world, world.tell(resume))
        world.gather(None)  # what the writer wrote is there for everybody
        return result


def _train(recipe: Recipe, folder: Path, journal: Journal, device: torch.device, world: World, resume: bool) -> Result:
    checkpoint = _read_checkpoint(folder, device, world) if resume else None
    if checkpoint is not None and checkpoint.progress.finished:
        with _writing(folder, recipe, world, resume=True):
            if world.writer:
                journal.rewind(checkpoint.progress.step)
            return _end(folder, recipe, journal, checkpoint.progress, steps=0)
    progress = checkpoint.progress if checkpoint else Progress()
    with world.together():
        job = _set_up(recipe, folder, journal, device, world, checkpoint)
        same_workers = checkpoint is not None and progress.workers == world.size
        rehearsal = rehearse(job, progress.threads if same_workers else None)
    _check_same(job)
    rehearsal = rehearsal.agreed(world)
    job = replace(job, replica=Replica(world, job.model, rehearsal.unused))
    if checkpoint is not None:
        restore(checkpoint, job)
    torch.set_num_threads(rehearsal.threads)
    with job.interrupt, _writing(folder, recipe, world, resume=resume):
        if world.writer:
            journal.rewind(progress.step)
            forget_after(folder, progress.step)
        before, progress = progress.step, replace(progress, threads=rehearsal.threads, workers=world.size)
        journal.tell(_started(job, progress, rehearsal.warnings))
        progress = run_loop(job, progress)
        return _end(folder, recipe, journal, progress, steps=progress.step - before)


def _began(folder: Path, world: World) -> bool:
    """Whether the run in the folder is one that this torchrun began, before it had to start its workers again."""
    if world.launch is None:
        return False
    started = [entry for entry in read_journal(folder / NAME) if entry["event"] == "started"]
    return bool(started) and started[-1].get("launch") == world.launch


def _read_checkpoint(folder: Path, device: torch.device, world: World) -> Checkpoint | None:
    """The writer reads it, and hands it to the others, whose machines need not see the folder."""
    if world.size == 1:
        return load_checkpoint(folder / "last", device)
    with world.together():
        found = load_checkpoint(folder / "last", torch.device("cpu")) if world.writer else None
    return world.tell(found)


@contextmanager
def _writing(folder: Path, recipe: Recipe, world: World, *, resume: bool) -> Iterator[None]:
    """The folder is the writer's while the block runs."""
    with ExitStack() as held:
        with world.together():
            if world.writer:
                held.enter_context(claimed(folder, recipe, resume=resume))
        yield


def _set_up(
    recipe: Recipe, folder: Path, journal: Journal, device: torch.device, world: World, checkpoint: Checkpoint | None
) -> Job:
    config = recipe.train
    known = checkpoint.bundle if checkpoint else load_bundle(config.start_from, device) if config.start_from else None
    if known is not None:
        _check_known(known, recipe)
    data = prepare(recipe, known, lambda what, pairs: journal.show(Preparing(what, pairs)))
    if checkpoint is not None and checkpoint.data != data.fingerprint:
        raise InputError(
            f"the training pairs are not those that {folder} was started with: put the old data back, or start a new "
            f"run with --out (train.start_from={folder} begins with its weights)"
        )
    model = known.model.to(device) if known is not None else _new_model(recipe, data, device)
    if known is None:
        files = config.source_vectors, config.target_vectors
        data = replace(data, notes=(*data.notes, *start_vectors(model, data.source, data.target, files)))
    steps = -(-len(data.batcher.plan()) // config.accumulate)
    limits = (config.steps, None if config.epochs is None else steps * config.epochs)
    return Job(
        recipe=recipe,
        folder=folder,
        data=data,
        model=model,
        optimizer=build_optimizer(model, config),
        generator=torch.Generator().manual_seed(config.seed),
        room=Room(),
        journal=journal,
        interrupt=Interrupt(),
        total=min(limit for limit in limits if limit is not None),
        autocast=pick_precision(config.precision, device),
        world=world,
    )


def _check_same(job: Job) -> None:
    """Refuse workers that prepared something else: on several machines, files and versions may differ."""
    if job.world.size == 1:
        return
    data, rest = job.data, job.recipe.model_dump_json(exclude={"description", "data"})
    mine = {"recipe": rest, "vocabularies": (data.source.fingerprint, data.target.fingerprint)}
    mine |= {"training pairs": data.fingerprint, "development pairs": fingerprint(data.dev_batcher.data)}
    first = job.world.tell(mine)
    with job.world.together():
        different = [what for what in mine if mine[what] != first[what]]
        if different:
            raise InputError(
                f"it has other {', '.join(different)} than worker 0: give every machine the same files and the same "
                "version of regard"
            )


def _check_known(known: Bundle, recipe: Recipe) -> None:
    """Refuse a bundle of another shape, or with other tokenizers, than the recipe describes."""
    text = recipe.text
    before = _shape(known.model.config, known.source.config, known.target.config, known.manifest.source_eos)
    after = _shape(recipe.model, text.source, text.target, text.source_eos)
    changed = differences(before, after)
    if changed:
        raise InputError(f"{known.path} is another model than the recipe describes: {'; '.join(changed)}")


def _shape(model: BaseModel, source: BaseModel, target: BaseModel, source_eos: bool) -> dict[str, Any]:
    """What weights and vocabularies depend on, under the names of the recipe's keys."""
    sides = {"source": source.model_dump(mode="json"), "target": target.model_dump(mode="json")}
    return {"model": model.model_dump(mode="json"), "text": {**sides, "source_eos": source_eos}}


def _new_model(recipe: Recipe, data: Prepared, device: torch.device) -> Seq2Seq:
    try:
        with torch.random.fork_rng(devices=[]):
            outline(recipe.model, len(data.source), len(data.target))
        return Seq2Seq(recipe.model, len(data.source), len(data.target)).to(device)
    except ValueError as error:
        raise InputError(f"[model] cannot be built: {error}") from error


def _started(job: Job, progress: Progress, warnings: tuple[str, ...]) -> Started:
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
        precision="float32" if job.autocast is None else "bf16",
        threads=progress.threads,
        padding=1 - data.batcher.efficiency(),
        notes=tuple(dict.fromkeys((*data.notes, *_few_steps(job), *warnings))),
        workers=job.world.size,
        launch=job.world.launch,
    )


def _few_steps(job: Job) -> tuple[str, ...]:
    """Epochs of a small corpus in large batches end before anything is learnt, which is better said at once."""
    config = job.config
    if config.steps is not None or job.total >= FEW:
        return ()
    batch = "batch_tokens" if config.batch_sentences is None else "batch_sentences"
    epochs = "1 epoch is" if config.epochs == 1 else f"{config.epochs} epochs are"
    return (f"{epochs} only {job.total:,} steps here: to learn more, raise train.epochs or lower train.{batch}",)


def _end(folder: Path, recipe: Recipe, journal: Journal, progress: Progress, steps: int) -> Result:
    """The last line of the journal, the picture, and what to tell the caller."""
    reason = progress.finished or "interrupted"
    journal.tell(Finished(progress.step, reason, progress.best_score, progress.best_step, progress.seconds))
    problem = draw_curve(folder) if journal.writes else None
    if problem is not None:
        journal.tell(Warned(progress.step, problem))
    return Result(folder, progress, reason, recipe.train.metric, steps)
