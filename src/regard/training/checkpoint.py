"""Everything a run needs to resume with bit-equal weights: a bundle, plus optimizer, progress and random states."""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from regard.bounds import MOST, cut
from regard.bundle.bundle_folder import whole_folder
from regard.bundle.manifest import BundleError
from regard.bundle.store import Bundle, check_file, copy_bundle, load_bundle, read_settled, write_bundle
from regard.bundle.weights import most_bytes, read_tensors
from regard.files import recover
from regard.reading_files import read_json
from regard.training.job import Progress, TrainingJob
from regard.training.prepare import TRAINING

TENSORS, PROGRESS = "training.safetensors", "training.json"
_STATES = 4
"""Largest number of values that an optimizer keeps for each parameter."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint; `data` holds the fingerprints of its training data, `device` the device's name if known."""

    bundle: Bundle
    progress: Progress
    tensors: dict[str, Tensor]
    data: dict[str, str | None]
    device: str | None


def save_checkpoint(job: TrainingJob, progress: Progress) -> None:
    """Write the run's `last/` atomically: a bundle with the state to resume from."""
    job.journal.sync()
    with whole_folder(job.last) as draft:
        tensors = _pack(job.step.optimizer)
        tensors["random.torch"] = torch.get_rng_state()
        tensors["random.forcing"] = job.generator.get_state()
        if job.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(job.device)
        save_file(tensors, draft / TENSORS)
        state = {"progress": asdict(progress), "data": job.data.fingerprints, "device": device_name(job.device)}
        (draft / PROGRESS).write_text(json.dumps(state), encoding="utf-8")
        write_bundle(draft, job.model, job.data.source, job.data.target, **job.about(steps=progress.step))


def save_first_best(folder: Path, progress: Progress, metric: str) -> None:
    """Copy the checkpoint to the run's `best/` if there is none yet and this step is the best so far.

    The first checkpoint is written before the first `best/`, so a killed run never has `best/` without `last/`.
    """
    best = folder / "best"
    if progress.best_step == progress.step and not progress.averaged and not best.exists():
        copy_bundle(folder / "last", best, steps=progress.step, **{metric: progress.best_score})


def device_name(device: torch.device) -> str:
    """The name of the device; results of another device may differ in their last bits."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def load_checkpoint(folder: Path, device: torch.device, trust: Collection[str] = ()) -> Checkpoint | None:
    """The checkpoint in `folder`; None if the run was stopped before its first one."""
    recover(folder)
    if not folder.exists():
        return None
    return read_settled(lambda: folder, lambda place: _read(place, device, trust))


def _read(folder: Path, device: torch.device, trust: Collection[str]) -> Checkpoint:
    bundle = load_bundle(folder, device, trust=trust)
    numbers = _STATES * bundle.model.parameters_count
    usable = f"the model in it can still be used, with train.start_from = '{folder}'"
    if bundle.manifest.version > 1:  # version 1 knew the checksums of the bundle's own files only
        try:
            for name, most in ((PROGRESS, MOST["document"]), (TENSORS, most_bytes({TENSORS: (numbers,)}))):
                check_file(folder / name, bundle.manifest, most)
        except BundleError as error:
            raise BundleError(f"cannot resume from {folder}: {error}; {usable}") from error
    try:
        state: dict[str, Any] = read_json(folder / PROGRESS)
        data = state["data"] if isinstance(state["data"], dict) else {TRAINING: state["data"]}
        tensors = read_tensors(folder / TENSORS, most=numbers)
        return Checkpoint(bundle, Progress(**state["progress"]), tensors, data, state.get("device"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"cannot resume from {folder}: its {PROGRESS} or {TENSORS} is missing or damaged ({cut(str(error))}); "
            f"{usable}"
        ) from error


def restore(checkpoint: Checkpoint, job: TrainingJob) -> None:
    """Restore optimizer and random states; the model's weights are in the bundle."""
    packed: dict[int, dict[str, Tensor]] = {}
    for name, tensor in checkpoint.tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            packed.setdefault(int(index), {})[key] = tensor
    job.step.optimizer.load_state_dict({**job.step.optimizer.state_dict(), "state": packed})
    torch.set_rng_state(checkpoint.tensors["random.torch"])
    job.generator.set_state(checkpoint.tensors["random.forcing"])
    if job.device.type == "cuda" and "random.cuda" in checkpoint.tensors:
        torch.cuda.set_rng_state(checkpoint.tensors["random.cuda"], job.device)


def _pack(optimizer: Optimizer) -> dict[str, Tensor]:
    """Optimizer state as flat tensors; the numbers of its groups come from the recipe again."""
    return {
        f"optimizer.{index}.{key}": torch.as_tensor(value).detach().cpu().contiguous()
        for index, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
    }
