"""Builds the `TrainingJob` of a recipe: data, model and optimizer, all checked against each other."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel

from regard.bundle.store import Bundle, load_bundle
from regard.models.seq2seq import Seq2Seq, outline
from regard.text.input_error import InputError
from regard.training.checkpoint import Checkpoint
from regard.training.device import pick_precision
from regard.training.interrupt import Interrupt
from regard.training.job import TrainingJob
from regard.training.journal import Journal, Preparing
from regard.training.optimizer import build_optimizer
from regard.training.optimizer_step import TrainStep
from regard.training.prepare import Prepared, prepare
from regard.training.recipe import Recipe
from regard.training.run_folder import differences
from regard.training.vectors import start_vectors
from regard.training.world import World


def set_up(
    recipe: Recipe,
    folder: Path,
    journal: Journal,
    device: torch.device,
    world: World,
    checkpoint: Checkpoint | None,
    trust: Collection[str],
) -> TrainingJob:
    """Prepare data and model; a checkpoint has its own model and tokenizers, which must fit recipe and data."""
    config = recipe.train
    known = checkpoint.bundle if checkpoint else None
    if known is None and config.start_from:
        known = load_bundle(config.start_from, device, trust=trust)
    if known is not None:
        _check_known(known, recipe, resumed=checkpoint is not None)
    data = prepare(recipe, known, lambda what, pairs: journal.notify(Preparing(what, pairs)))
    before = checkpoint.data if checkpoint else {}
    changed = [what for what, digest in data.fingerprints.items() if before.get(what, digest) != digest]
    if changed:
        raise InputError(
            f"the {' and the '.join(changed)} are not those that {folder} was started with: put the old data back, or "
            f"start a new run with --out (train.start_from={folder} starts from its weights)"
        )
    if checkpoint is not None:
        model = checkpoint.bundle.model.to(device)
    elif known is not None:
        model = _new_model(recipe, data, device, trust)
        model.load_state_dict(known.model.state_dict())
    else:
        model = _new_model(recipe, data, device, trust)
        files = config.source_vectors, config.target_vectors
        data = replace(data, notes=(*data.notes, *start_vectors(model, data.source, data.target, files)))
    steps = -(-len(data.batcher.plan()) // config.accumulate)
    limits = (config.steps, None if config.epochs is None else steps * config.epochs)
    return TrainingJob(
        recipe=recipe,
        folder=folder,
        data=data,
        step=TrainStep(model, build_optimizer(model, config), config, pick_precision(config.precision, device)),
        generator=torch.Generator().manual_seed(config.seed),
        journal=journal,
        interrupt=Interrupt(),
        total=min(limit for limit in limits if limit is not None),
        world=world,
    )


def check_same(job: TrainingJob) -> None:
    """Raise if workers have different data or recipes: on several machines, files and versions may differ."""
    if job.world.size == 1:
        return
    data, rest = job.data, job.recipe.model_dump_json(exclude={"description", "data"})
    vocabularies = (data.source.fingerprint, data.target.fingerprint)
    mine: dict[str, Any] = {"recipe": rest, "vocabularies": vocabularies, **data.fingerprints}
    first = job.world.broadcast(mine)
    with job.world.fail_together():
        different = [what for what in mine if mine[what] != first[what]]
        if different:
            raise InputError(
                f"not the same as on worker 0: {', '.join(different)}; give every machine the same files and the same "
                "version of regard"
            )


def _check_known(known: Bundle, recipe: Recipe, resumed: bool) -> None:
    """Raise if the bundle's model or tokenizers differ from the recipe's; a new run may change the dropout rates."""
    text = recipe.text
    before = _shape(known.model.config, known.source.config, known.target.config, known.manifest.source_eos)
    after = _shape(recipe.model, text.source, text.target, text.source_eos)
    if not resumed:
        before["model"].update({key: rate for key, rate in after["model"].items() if key.endswith("dropout")})
    changed = differences(before, after)
    if changed:
        raise InputError(f"{known.name} is another model than the recipe describes: {'; '.join(changed)}")


def _shape(model: BaseModel, source: BaseModel, target: BaseModel, source_eos: bool) -> dict[str, Any]:
    """The settings that weights and vocabularies depend on, by the recipe's keys."""
    sides = {"source": source.model_dump(mode="json"), "target": target.model_dump(mode="json")}
    return {"model": model.model_dump(mode="json"), "text": {**sides, "source_eos": source_eos}}


def _new_model(recipe: Recipe, data: Prepared, device: torch.device, trust: Collection[str]) -> Seq2Seq:
    try:
        with torch.random.fork_rng(devices=[]):
            outline(recipe.model, len(data.source), len(data.target), trust=trust)
        return Seq2Seq(recipe.model, len(data.source), len(data.target), trust=trust).to(device)
    except ValueError as error:
        raise InputError(f"[model] cannot be built: {error}") from error
