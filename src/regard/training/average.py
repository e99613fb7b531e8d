"""Checkpoint averaging: the mean of the last validated weights, often a little better than any of them."""

import hashlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from regard.bundle.bundle_folder import explaining, write_whole
from regard.bundle.manifest import FileEntry
from regard.bundle.store import weights_of
from regard.bundle.weights import read_tensors
from regard.text.input_error import InputError
from regard.training.job import Progress, TrainingJob
from regard.training.journal import Averaged
from regard.training.validate import validate

FOLDER = "average"


def keep_weights(job: TrainingJob, step: int) -> None:
    """Add this step's weights to the run's folder and delete all but the last `train.average`.

    The file name holds the step and the beginning of the file's checksum.
    """
    data = save(weights_of(job.model))
    path = job.folder / FOLDER / f"{step:09d}-{hashlib.sha256(data).hexdigest()[:16]}.safetensors"
    write_whole(path, data)
    with explaining(path):
        for old in _kept(job.folder)[: -job.config.average]:
            old.unlink()


def forget_after(folder: Path, step: int) -> None:
    """Delete weights that a resumed run will compute again, and the temporary files of a killed one."""
    drafts = [path for pattern in ("*.part", ".tmp*") for path in (folder / FOLDER).glob(pattern)]
    for path in (*drafts, *(path for path in _kept(folder) if int(path.stem.partition("-")[0]) > step)):
        path.unlink()


def try_average(job: TrainingJob, progress: Progress) -> Progress:
    """Replace `best/` by the averaged model where that is better on the development set."""
    paths = [path for path in _kept(job.folder) if _is_whole(path, partial(job.warn, progress.step))]
    if len(paths) < 2:
        return progress
    model, metric = deepcopy(job.model), job.config.metric
    shapes = {name: tuple(tensor.shape) for name, tensor in weights_of(model).items()}
    mean = mean_weights([_read(path, shapes) for path in paths])
    model.load_state_dict(mean, strict=False)  # tied weights are saved under one of their names
    scores = validate(model, job.data, metric, job.recipe.search)
    best = progress.improved(metric, scores.score, scores.loss)
    if best:
        job.save_best(model, steps=progress.step, averaged=len(paths), **{metric: scores.score})
        progress = replace(
            progress, best_score=scores.score, best_step=progress.step, best_loss=scores.loss, averaged=True
        )
    job.journal.write(Averaged(progress.step, len(paths), scores.loss, metric, scores.score, best))
    return progress


def mean_weights(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Each weight's mean over the parts."""
    return {name: torch.stack([part[name] for part in parts]).mean(dim=0) for name in parts[0]}


def _read(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    try:
        return read_tensors(path, shapes)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be averaged: {error}; remove it, and continue with --resume") from error


def _is_whole(path: Path, warn: Callable[[str], None]) -> bool:
    """Whether the file has the checksum in its name; warns if not. Names from older versions have none."""
    checksum = path.stem.partition("-")[2]
    try:
        if not checksum or checksum == FileEntry.of(path).sha256[:16]:
            return True
    except OSError:  # a file that cannot be read counts as damaged
        pass
    warn(f"{path} is damaged: the average leaves it out")
    return False


def _kept(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("*.safetensors"))
