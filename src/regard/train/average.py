"""The mean of the last few validated weights, often a little better than any of them."""

from copy import deepcopy
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from regard.bundle.folder import explain
from regard.bundle.store import weights_of
from regard.bundle.weights import read_tensors
from regard.models.seq2seq import Seq2Seq
from regard.text.errors import InputError
from regard.train.job import Job

FOLDER = "average"


def keep_weights(job: Job, step: int) -> None:
    """Add this step's weights to the run's folder and drop all but the last `train.average`."""
    path = job.folder / FOLDER / f"{step:09d}.safetensors"
    draft = path.with_suffix(".part")
    try:
        path.parent.mkdir(exist_ok=True)
        save_file(weights_of(job.model), draft)
        draft.replace(path)
        for old in _kept(job.folder)[: -job.config.average]:
            old.unlink()
    except (OSError, SafetensorError) as error:
        draft.unlink(missing_ok=True)
        raise explain(error, path) from error


def forget_after(folder: Path, step: int) -> None:
    """Drop kept weights that a resumed run will make again."""
    for path in _kept(folder):
        if int(path.stem) > step:
            path.unlink()


def averaged(job: Job) -> tuple[Seq2Seq, int] | None:
    """A model with the mean of the kept weights, and how many they are; None where there are fewer than two."""
    paths = _kept(job.folder)
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


def _kept(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("*.safetensors"))
