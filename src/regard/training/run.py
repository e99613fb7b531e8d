"""`regard.train`: a recipe becomes a run folder with the best model in it."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel

import regard
from regard.bundle.store import Bundle, load_bundle
from regard.models.seq2seq import Seq2Seq, outline
from regard.text.errors import InputError
from regard.training.average import forget_after
from regard.training.board import Board
from regard.training.checkpoint import Checkpoint, device_name, load_checkpoint, restore, save_first_best
from regard.training.config import Metric
from regard.training.device import pick_device, pick_precision, surroundings
from regard.training.folder import Checked, check_folder, claimed, differences
from regard.training.interrupt import Interrupt
from regard.training.job import Job
from regard.training.journal import NAME, Finished, Journal, Listener, Preparing, Started, Warned, read_journal
from regard.training.loop import run_loop
from regard.training.optimizer import build_optimizer
from regard.training.own import own_classes
from regard.training.picture import draw_curve
from regard.training.prepare import Prepared, prepare
from regard.training.progress import Progress
from regard.training.recipe import Recipe, load_recipe, parse_recipe
from regard.training.rehearse import rehearse
from regard.training.step import Room
from regard.training.vectors import start_vectors
from regard.training.world import Replica, World, join

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
    trust: Collection[str] = (),
) -> Result:
    """Train what `recipe` describes into the folder `out`; `regard.load(out)` then translates with it.

    Until everything is ready for the first step, nothing on the disk changes. Started by torchrun, several workers
    train one model; the first of them writes it. A recipe file of the user's own may name a class outside regard as its
    score; one that a recipe from elsewhere or a checkpoint names is imported only if `trust` names it.
    """
    with join() as world:
        with world.together():
            name = "run" if isinstance(recipe, Recipe) else Path(recipe).stem
            if isinstance(recipe, Recipe):
                recipe = parse_recipe(recipe.model_dump(), overrides=overrides)
            else:
                file, recipe = recipe, load_recipe(recipe, overrides)
                trust = own_classes([recipe], file, trust=trust)
            folder = Path(out) if out is not None else Path("runs") / name
            checked = None
            if world.writer:
                if _began(folder, world):
                    resume, overwrite = True, False
                checked = check_folder(folder, recipe, resume=resume, overwrite=overwrite)
            device = pick_device(recipe.train.device, world)
            listeners: list[Listener] = [] if listener is None else [listener]
            if recipe.train.tensorboard and world.writer:
                listeners.append(Board(folder))
            journal = Journal(folder, listeners, writes=world.writer)
        with surroundings(recipe.train.seed, device, recipe.train.deterministic):
            result = _train(recipe, folder, checked, journal, device, world, world.tell(resume), trust)
        world.gather(None)  # what the writer wrote is there for everybody
        return result


def _train(
    recipe: Recipe,
    folder: Path,
    checked: Checked | None,
    journal: Journal,
    device: torch.device,
    world: World,
    resume: bool,
    trust: Collection[str],
) -> Result:
    checkpoint = _read_checkpoint(folder, device, world, trust) if resume else None
    if checkpoint is not None and checkpoint.progress.finished:
        with _writing(checked, world):
            for note in _rewind(folder, recipe, journal, checkpoint.progress):
                journal.show(Warned(checkpoint.progress.step, note))
            return _end(folder, recipe, journal, checkpoint.progress, steps=0)
    progress = checkpoint.progress if checkpoint else Progress()
    with world.together():
        job = _set_up(recipe, folder, journal, device, world, checkpoint, trust)
        same_workers = checkpoint is not None and progress.workers == world.size
        rehearsal = rehearse(job, progress.threads if same_workers else None)
    _check_same(job)
    rehearsal = rehearsal.agreed(world)
    job = replace(job, replica=Replica(world, job.model, rehearsal.unused))
    if checkpoint is not None:
        restore(checkpoint, job)
    torch.set_num_threads(rehearsal.threads)
    with job.interrupt, _writing(checked, world):
        notes = (*_rewind(folder, recipe, journal, progress), *_other_bits(checkpoint, job))
        before, progress = progress.step, replace(progress, threads=rehearsal.threads, workers=world.size)
        journal.tell(_started(job, progress, (*notes, *rehearsal.warnings)))
        progress = run_loop(job, progress)
        return _end(folder, recipe, journal, progress, steps=progress.step - before)


def _rewind(folder: Path, recipe: Recipe, journal: Journal, progress: Progress) -> tuple[str, ...]:
    """The folder as it was when the checkpoint was written; the writer does it. What to tell about it."""
    if not journal.writes:
        return ()
    journal.rewind(progress.step)
    forget_after(folder, progress.step)
    save_first_best(folder, progress, recipe.train.metric)
    best = folder / "best"
    if progress.best_step is None or best.exists():
        return ()
    told = f"{best}, the best model so far (step {progress.best_step:,}), is missing"
    return (f"{told}: last/ takes its place until there is a better one",)


def _other_bits(checkpoint: Checkpoint | None, job: Job) -> tuple[str, ...]:
    """A warning, where a run goes on under other conditions than those that repeat its bits."""
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
    return (f"the checkpoint was written with {', '.join(changed)}: the run goes on, but not to bit-equal weights",)


def _began(folder: Path, world: World) -> bool:
    """Whether the run in the folder is one that this torchrun began, before it had to start its workers again."""
    if world.launch is None:
        return False
    started = [entry for entry in read_journal(folder / NAME) if entry["event"] == "started"]
    return bool(started) and started[-1].get("launch") == world.launch


def _read_checkpoint(folder: Path, device: torch.device, world: World, trust: Collection[str]) -> Checkpoint | None:
    """The writer reads it, and hands it to the others, whose machines need not see the folder."""
    if world.size == 1:
        return load_checkpoint(folder / "last", device, trust)
    with world.together():
        found = load_checkpoint(folder / "last", torch.device("cpu"), trust) if world.writer else None
    return world.tell(found)


@contextmanager
def _writing(checked: Checked | None, world: World) -> Iterator[None]:
    """The folder is the writer's while the block runs."""
    with ExitStack() as held:
        with world.together():
            if checked is not None:
                held.enter_context(claimed(checked))
        yield


def _set_up(
    recipe: Recipe,
    folder: Path,
    journal: Journal,
    device: torch.device,
    world: World,
    checkpoint: Checkpoint | None,
    trust: Collection[str],
) -> Job:
    config = recipe.train
    known = checkpoint.bundle if checkpoint else None
    if known is None and config.start_from:
        known = load_bundle(config.start_from, device, trust=trust)
    if known is not None:
        _check_known(known, recipe)
    data = prepare(recipe, known, lambda what, pairs: journal.show(Preparing(what, pairs)))
    before = checkpoint.data if checkpoint else {}
    changed = [what for what, digest in data.fingerprints.items() if before.get(what, digest) != digest]
    if changed:
        raise InputError(
            f"the {' and the '.join(changed)} are not those that {folder} was started with: put the old data back, or "
            f"start a new run with --out (train.start_from={folder} begins with its weights)"
        )
    model = known.model.to(device) if known is not None else _new_model(recipe, data, device, trust)
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
    vocabularies = (data.source.fingerprint, data.target.fingerprint)
    mine: dict[str, Any] = {"recipe": rest, "vocabularies": vocabularies, **data.fingerprints}
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


def _new_model(recipe: Recipe, data: Prepared, device: torch.device, trust: Collection[str]) -> Seq2Seq:
    try:
        with torch.random.fork_rng(devices=[]):
            outline(recipe.model, len(data.source), len(data.target), trust=trust)
        return Seq2Seq(recipe.model, len(data.source), len(data.target), trust=trust).to(device)
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
