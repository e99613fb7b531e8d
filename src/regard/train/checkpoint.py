"""Everything a run needs to go on to bit-equal weights: a bundle, plus optimizer, progress and random states."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import Optimizer

from regard.bounds import cut
from regard.bundle.errors import BundleError
from regard.bundle.folder import recover, whole_folder
from regard.bundle.store import Bundle, load_bundle, write_bundle
from regard.bundle.weights import read_tensors
from regard.files import read_json
from regard.train.job import Job
from regard.train.progress import Progress

TENSORS, PROGRESS = "training.safetensors", "training.json"
_STATES = 4
"""Numbers that no optimizer here keeps more of for each parameter."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint read back; `data` is the fingerprint of the pairs it was trained on."""

    bundle: Bundle
    progress: Progress
    tensors: dict[str, Tensor]
    data: str


def save_checkpoint(job: Job, progress: Progress) -> None:
    """Write the run's `last/` whole: a bundle that also knows how to go on."""
    with whole_folder(job.last) as draft:
        write_bundle(draft, job.model, job.data.source, job.data.target, **job.about(steps=progress.step))
        tensors = _pack(job.optimizer)
        tensors["random.torch"] = torch.get_rng_state()
        tensors["random.forcing"] = job.generator.get_state()
        if job.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(job.device)
        save_file(tensors, draft / TENSORS)
        state = {"progress": asdict(progress), "data": job.data.fingerprint}
        (draft / PROGRESS).write_text(json.dumps(state), encoding="utf-8")


def load_checkpoint(folder: Path, device: torch.device) -> Checkpoint | None:
    """The checkpoint in `folder`; None where a run was stopped before its first."""
    recover(folder)
    if not folder.exists():
        return None
    bundle = load_bundle(folder, device)
    try:
        state: dict[str, Any] = read_json(folder / PROGRESS)
        tensors = read_tensors(folder / TENSORS, most=_STATES * bundle.model.parameters_count)
        return Checkpoint(bundle, Progress(**state["progress"]), tensors, state["data"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"cannot resume from {folder}: its {PROGRESS} or {TENSORS} is missing or damaged ({cut(str(error))}); "
            f"the model in it can still be used, with train.start_from = '{folder}'"
        ) from error


def restore(checkpoint: Checkpoint, job: Job) -> None:
    """Put optimizer and random states back; the model's weights are in the bundle."""
    packed: dict[int, dict[str, Tensor]] = {}
    for name, tensor in checkpoint.tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            packed.setdefault(int(index), {})[key] = tensor
    job.optimizer.load_state_dict({**job.optimizer.state_dict(), "state": packed})
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
