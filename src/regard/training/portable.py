"""Recipes in files of a run: paths are relative to the run folder, which can be moved and reveals no local path."""

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
        raw["data"] = {**_relative(data, base), "base": _from(run, base) or os.path.basename(base)}
    raw["train"] = _relative(raw["train"], run)
    return raw


def movable_recipe(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """The recipe as JSON for resuming: the data's folder and the guide's links are relative to the run folder.

    A path that shares no folder with the run stays absolute, because the run needs it.
    """
    raw = recipe.model_dump(mode="json")
    run, guide = os.path.realpath(folder), raw["train"]["guide"]
    for table, key in ((raw["data"], "base"), (guide, "links")):
        if table.get(key) is not None:
            path = os.path.realpath(table[key])
            table[key] = _from(run, path) or path
    return raw


def located_recipe(raw: dict[str, Any], run: Path) -> dict[str, Any]:
    """The recipe that the run folder stores, with the data's folder and the guide's links found again."""
    data, train = raw.get("data"), raw.get("train")
    if isinstance(data, dict) and isinstance(data.get("base"), str):
        raw = {**raw, "data": {**data, "base": _located(data["base"], run)}}
    guide = train.get("guide") if isinstance(train, dict) else None
    if isinstance(train, dict) and isinstance(guide, dict) and isinstance(guide.get("links"), str):
        raw = {**raw, "train": {**train, "guide": {**guide, "links": _located(guide["links"], run)}}}
    return raw


def _located(path: str, run: Path) -> str:
    return os.path.normpath(run.resolve() / path)


def _relative(value: Any, start: str) -> Any:
    """The value with every absolute path in it made relative to `start`."""
    if isinstance(value, dict):
        return {key: _relative(one, start) for key, one in value.items()}
    if isinstance(value, list):
        return [_relative(one, start) for one in value]
    if not isinstance(value, str) or not os.path.isabs(value):
        return value
    return _from(start, os.path.realpath(value)) or os.path.basename(value)


def _from(start: str, path: str) -> str | None:
    """The path relative to `start`; None where the two share nothing but the root."""
    try:
        shared = Path(os.path.commonpath([start, path]))
    except ValueError:  # two drives
        return None
    return os.path.relpath(path, start) if shared != Path(shared.anchor) else None
