"""The mean of the last few checkpoints' weights, often a little better than any of them."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.bundle.folder import explain


def keep_weights(folder: Path, weights: dict[str, Tensor], step: int, count: int) -> None:
    """Add this step's weights to the run's `average/` folder and drop all but the last `count`."""
    kept = folder / "average"
    path = kept / f"{step:09d}.safetensors"
    draft = path.with_suffix(".part")
    try:
        kept.mkdir(exist_ok=True)
        save_file(weights, draft)
        draft.replace(path)
        for old in sorted(kept.glob("*.safetensors"))[:-count]:
            old.unlink()
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise explain(error, path) from error


def forget_after(folder: Path, step: int) -> None:
    """Drop kept weights that a resumed run will make again."""
    for path in (folder / "average").glob("*.safetensors"):
        if int(path.stem) > step:
            path.unlink()


def average_weights(folder: Path) -> dict[str, Tensor] | None:
    """The mean of all kept weights; None where fewer than two were kept."""
    paths = sorted((folder / "average").glob("*.safetensors"))
    if len(paths) < 2:
        return None
    parts = [load_file(path) for path in paths]
    return {name: torch.stack([part[name] for part in parts]).mean(dim=0) for name in parts[0]}
