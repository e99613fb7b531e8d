"""`regard.train`: a recipe becomes a run folder with the best model in it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.bundle.store import Bundle, load_bundle, save_bundle
from regard.models.seq2seq import Seq2Seq
from regard.text.errors import InputError
from regard.train.average import average_weights, forget_after
from regard.train.checkpoint import Progress, load_checkpoint, restore
from regard.train.device import Determinism, pick_device, pick_precision, pick_threads, rehearse
from regard.train.folder import claim_folder, differences
from regard.train.interrupt import Interrupt
from regard.train.journal import Journal, Listener, Started, Validated, Warned, read_journal
from regard.train.loop import Job, run_loop
from regard.train.optimizer import build_optimizer
from regard.train.picture import draw_curve
from regard.train.prepare import Prepared, prepare
from regard.train.recipe import Recipe, load_recipe
from regard.train.validate import better, validate


LONGEST_SOURCE = 1000
"""Pieces a model accepts at most where the recipe sets no limit."""


@dataclass(frozen=True)
class Result:
    """Where a run ended and what it found."""

    folder: Path
    progress: Progress
    reason: str
    metric: str


def train(
    recipe: Recipe | str | Path,
    out: Path | str | None = None,
    *,
    overrides: Iterable[str] = (),
    resume: bool = False,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> Result:
    """Train what `recipe` describes into the folder `out`; `regard.load(out)` then translates with it."""
    name = "run" if isinstance(recipe, Recipe) else Path(recipe).stem
    if not isinstance(recipe, Recipe):
        recipe = load_recipe(recipe, overrides)
    folder = Path(out) if out is not None else Path("runs") / name
    claim_folder(folder, recipe, resume=resume, overwrite=overwrite)
    journal = Journal(folder / "journal.jsonl", listener)
    device = pick_device(recipe.train.device)
    with Interrupt() as interrupt, Determinism(recipe.train.deterministic):
        job, progress = _set_up(recipe, folder, journal, interrupt, device, resume)
        if progress.step < job.total or job.config.steps is None:
            progress = run_loop(job, progress)
        if not interrupt.asked:
            _average(job)
    _draw(folder, journal)
    entries = read_journal(folder / "journal.jsonl")
    reason = next((entry["reason"] for entry in reversed(entries) if entry["event"] == "finished"), "steps")
    return Result(folder, progress, reason, recipe.train.metric)


def _set_up(
    recipe: Recipe, folder: Path, journal: Journal, interrupt: Interrupt, device: torch.device, resume: bool
) -> tuple[Job, Progress]:
    config = recipe.train
    resumed = load_checkpoint(folder / "last", device) if resume and (folder / "last").exists() else None
    known = resumed.bundle if resumed else load_bundle(config.start_from, device) if config.start_from else None
    prepared = prepare(recipe, known)
    torch.manual_seed(config.seed)
    bundle = _model_for(recipe, prepared, known, device, folder)
    optimizer = build_optimizer(bundle.model, config)
    generator = torch.Generator().manual_seed(config.seed)
    autocast = pick_precision(config.precision, device)
    steps = -(-len(prepared.batcher.plan()) // config.accumulate)
    total = config.steps if config.steps is not None else steps * (config.epochs or 1)
    if config.epochs is not None:
        total = min(total, steps * config.epochs)
    job = Job(
        recipe, folder, bundle, optimizer, generator, prepared.batcher, prepared.dev, prepared.dev_batcher,
        journal, interrupt, _about(recipe), total, autocast,
    )  # fmt: skip
    threads = resumed.progress.threads if resumed else pick_threads(job)
    torch.set_num_threads(threads)
    if resumed is None:
        rehearse(job)
        journal.rewind(-1)
        progress = Progress(threads=threads)
    else:
        restore(resumed, optimizer, generator)
        progress = resumed.progress
        journal.rewind(progress.step)
        forget_after(folder, progress.step)
    journal.tell(_started(job, prepared, progress, device))
    return job, progress


def _model_for(recipe: Recipe, prepared: Prepared, known: Bundle | None, device: torch.device, folder: Path) -> Bundle:
    """A new model, or the known one; a known one of another shape is refused."""
    if known is None:
        model = Seq2Seq(recipe.model, len(prepared.source), len(prepared.target)).to(device)
        return Bundle(model, prepared.source, prepared.target, None, folder)  # type: ignore[arg-type]
    if known.model.config != recipe.model:
        changed = differences(known.model.config.model_dump(), recipe.model.model_dump())
        raise InputError(f"{known.path} holds another model than the recipe's [model]: {'; '.join(changed)}")
    return Bundle(known.model.train(), known.source, known.target, known.manifest, folder)


def _about(recipe: Recipe) -> dict[str, Any]:
    return {
        "source_eos": recipe.text.source_eos,
        "longest_source": recipe.text.longest_source or LONGEST_SOURCE,
        "search": recipe.search.model_dump(mode="json"),
        "recipe": recipe.model_dump(mode="json"),
    }


def _started(job: Job, prepared: Prepared, progress: Progress, device: torch.device) -> Started:
    return Started(
        parameters=job.bundle.model.parameters_count,
        train_pairs=len(job.batcher.data),
        dev_pairs=len(job.dev_batcher.data),
        source_vocabulary=len(prepared.source),
        target_vocabulary=len(prepared.target),
        total_steps=job.total,
        first_step=progress.step + 1,
        device=str(device),
        precision="float32" if job.autocast is None else "bf16",
        threads=progress.threads,
        padding=1 - job.batcher.efficiency(),
        notes=prepared.notes,
    )


def _average(job: Job) -> None:
    """Put the averaged weights into `best/` where they beat it on the development set."""
    weights = average_weights(job.folder) if job.config.average else None
    if weights is None:
        return
    model = load_bundle(job.folder / "last", job.device)
    model.model.load_state_dict(weights, strict=False)
    verdict = validate(model, job.dev, job.dev_batcher, job.config.metric, job.recipe.search)
    entries = [entry for entry in read_journal(job.journal.path) if entry["event"] == "validated"]
    best = next((entry["score"] for entry in reversed(entries) if entry["best"]), None)
    improved = better(job.config.metric, verdict.score, best)
    step = entries[-1]["step"] if entries else 0
    if improved:
        about = {
            **job.about,
            "trained": {"steps": step, "averaged": job.config.average, job.config.metric: verdict.score},
        }
        save_bundle(job.folder / "best", model.model, model.source, model.target, **about)
    job.journal.tell(
        Validated(step, 0, 0.0, verdict.loss, job.config.metric, verdict.score, improved, verdict.sample, 0.0)
    )


def _draw(folder: Path, journal: Journal) -> None:
    message = draw_curve(folder)
    if message is not None:
        journal.tell(Warned(message))
