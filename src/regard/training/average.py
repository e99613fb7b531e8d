"""The mean of the last few validated weights, often a little better than any of them."""

import hashlib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from regard.bundle.folder import explain, write_whole
from regard.bundle.manifest import FileEntry
from regard.bundle.store import weights_of
from regard.bundle.weights import read_tensors
from regard.models.seq2seq import Seq2Seq
from regard.text.errors import InputError
from regard.training.job import Job

FOLDER = "average"


def keep_weights(job: Job, step: int) -> None:
    """Add this step's weights to the run's folder and drop all but the last `train.average`."""
    data = save(weights_of(job.model))
    path = job.folder / FOLDER / f"{step:09d}-{hashlib.sha256(data).hexdigest()[:16]}.safetensors"
    write_whole(path, data)
    try:
        for old in _kept(job.folder)[: -job.config.average]:
            old.unlink()
    except OSError as error:
        raise explain(error, path) from error


def forget_after(folder: Path, step: int) -> None:
    """Drop kept weights that a resumed run will make again, and drafts of a killed one, safetensors' too."""
    drafts = [path for pattern in ("*.part", ".tmp*") for path in (folder / FOLDER).glob(pattern)]
    for path in (*drafts, *(path for path in _kept(folder) if int(path.stem.partition("-")[0]) > step)):
        path.unlink()


def averaged(job: Job, warn: Callable[[str], None]) -> tuple[Seq2Seq, int] | None:
    """A model with the mean of the kept weights, and how many they are; None where there are fewer than two.

    Files whose checksum does not match their name are left out, with a warning.
    """
    paths = []
    for path in _kept(job.folder):
        checksum = path.stem.partition("-")[2]
        if checksum and checksum != _checksum(path):
            warn(f"{path} is damaged: the average leaves it out")
        else:
            paths.append(path)
    if len(paths) < 2:
        return None
    model = deepcopy(job.model)
    model.load_state_dict(mean_weights([_read(path, model) for path in paths]), strict=False)  # tied ones have one name
    return model, len(paths)


def _read(path: Path, model: Seq2Seq) -> dict[str, Tensor]:
    try:
        return read_tensors(path, {name: tuple(tensor.shape) for name, tensor in weights_of(model).items()})
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be averaged: {error}; remove it, and --resume") from error


def mean_weights(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Each weight's mean over the parts."""
    return {name: torch.stack([part[name] for part in parts]).mean(dim=0) for name in parts[0]}


def _checksum(path: Path) -> str | None:
    """None where it cannot be read."""
    try:
        return FileEntry.of(path).sha256[:16]
    except OSError:
        return None


def _kept(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("*.safetensors"))
