"""Everything a run needs to go on to bit-equal weights: a bundle, plus optimizer, progress and random states."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from regard.bundle.errors import BundleError
from regard.bundle.folder import recover, whole_folder
from regard.bundle.store import Bundle, load_bundle, write_bundle

TENSORS, PROGRESS = "training.safetensors", "training.json"


@dataclass(frozen=True)
class Progress:
    """Where a run stands; `batch` counts the batches of `epoch` that are done."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    best_score: float | None = None
    best_step: int | None = None
    stale: int = 0
    plateau: int = 0
    plateau_stale: int = 0
    seconds: float = 0.0
    threads: int = 1
    loss_sum: float = 0.0
    loss_steps: int = 0

    def moved(self, **changes: Any) -> "Progress":
        return replace(self, **changes)


@dataclass(frozen=True)
class Resumed:
    """A checkpoint read back."""

    bundle: Bundle
    progress: Progress
    tensors: dict[str, Tensor]


def save_checkpoint(
    folder: Path,
    bundle: Bundle,
    optimizer: Optimizer,
    progress: Progress,
    generator: torch.Generator,
    about: dict[str, Any],
) -> None:
    """Write `folder` whole: a bundle that also knows how to go on."""
    with whole_folder(folder) as draft:
        write_bundle(draft, bundle.model, bundle.source, bundle.target, **about)
        tensors, numbers = _pack(optimizer)
        tensors["random.torch"] = torch.get_rng_state()
        tensors["random.forcing"] = generator.get_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        save_file(tensors, draft / TENSORS)
        state = {"progress": asdict(progress), "optimizer": numbers}
        (draft / PROGRESS).write_text(json.dumps(state), encoding="utf-8")


def load_checkpoint(folder: Path, device: torch.device) -> Resumed:
    recover(folder)
    for name in (TENSORS, PROGRESS):
        if not (folder / name).is_file():
            raise BundleError(f"nothing to resume in {folder.parent}: {folder / name} is missing")
    bundle = load_bundle(folder, device)
    state = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    return Resumed(bundle, Progress(**state["progress"]), load_file(folder / TENSORS))


def restore(resumed: Resumed, optimizer: Optimizer, generator: torch.Generator) -> None:
    """Put optimizer and random states back; the model's weights are in the bundle."""
    packed: dict[int, dict[str, Any]] = {}
    for name, tensor in resumed.tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            packed.setdefault(int(index), {})[key] = tensor
    state = optimizer.state_dict()
    state["state"] = packed
    optimizer.load_state_dict(state)
    torch.set_rng_state(resumed.tensors["random.torch"])
    generator.set_state(resumed.tensors["random.forcing"])
    if torch.cuda.is_available() and "random.cuda" in resumed.tensors:
        torch.cuda.set_rng_state(resumed.tensors["random.cuda"])


def _pack(optimizer: Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Optimizer state as flat tensors; the groups' numbers come from the recipe again."""
    tensors = {}
    for index, values in optimizer.state_dict()["state"].items():
        for key, value in values.items():
            tensors[f"optimizer.{index}.{key}"] = torch.as_tensor(value).detach().cpu().clone().contiguous()
    return tensors, {"groups": len(optimizer.param_groups)}
