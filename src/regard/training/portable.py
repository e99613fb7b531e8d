"""The recipe in a bundle's manifest: paths are relative to the run folder, so that it reveals no local path."""

import os
from pathlib import Path
from typing import Any

from regard.training.recipe import Recipe


def portable_recipe(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """The recipe as JSON without absolute paths: relative to the run folder, data files to the data's `base`.

    A path that shares no folder with the run keeps its last part only.
    """
    raw = recipe.model_dump(mode="json")
    run = os.path.realpath(folder)
    data = raw["data"]
    if "base" in data:
        base = os.path.realpath(data["base"])
        raw["data"] = {**_relative(data, base), "base": _from(run, base)}
    raw["train"] = _relative(raw["train"], run)
    return raw


def located_recipe(raw: dict[str, Any], bundle: Path) -> dict[str, Any]:
    """The recipe of a bundle's manifest with the data's `base` found again, from the run folder around the bundle."""
    data = raw.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("base"), str):
        return raw
    return {**raw, "data": {**data, "base": os.path.normpath(bundle.resolve().parent / data["base"])}}


def _relative(value: Any, start: str) -> Any:
    """The value with every absolute path in it made relative to `start`."""
    if isinstance(value, dict):
        return {key: _relative(one, start) for key, one in value.items()}
    if isinstance(value, list):
        return [_relative(one, start) for one in value]
    return _from(start, os.path.realpath(value)) if isinstance(value, str) and os.path.isabs(value) else value


def _from(start: str, path: str) -> str:
    """The path relative to `start`, or its last part where the two share nothing but the root."""
    try:
        shared = Path(os.path.commonpath([start, path]))
    except ValueError:  # two drives
        return os.path.basename(path)
    return os.path.relpath(path, start) if shared != Path(shared.anchor) else os.path.basename(path)
