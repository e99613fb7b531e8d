"""Presets: published architectures by name (`presets.toml`); the keys of [model] override them."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from regard.bounds import excerpt
from regard.models.model_config import ModelConfig, RecurrentConfig, TransformerConfig
from regard.suggest import suggest

_MODEL: TypeAdapter[RecurrentConfig | TransformerConfig] = TypeAdapter(ModelConfig)
_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _by_size(sizes: str = "", like: str = "", **keys: Any) -> dict[str | None, dict[str, Any]]:
    """The keys of each size of a preset; None: it has one size. `like` names another preset, whose keys it changes."""
    keys = {**_FILE["presets"].get(like, {}), **keys}
    return {name: {**keys, **size} for name, size in _FILE["sizes"][sizes].items()} if sizes else {None: keys}


PRESETS: dict[str, dict[str | None, dict[str, Any]]] = {
    name: _by_size(**table) for name, table in _FILE["presets"].items()
}


def preset(name: str, size: str | None = None, **changes: Any) -> RecurrentConfig | TransformerConfig:
    """The configuration of a preset, with changes.

    >>> preset("luong", "tiny", score="dot").placement
    'output'
    """
    if name not in PRESETS:
        raise ValueError(f"no preset {excerpt(name)}: {suggest(name, PRESETS)}")
    sizes = PRESETS[name]
    key = size if size is not None or None in sizes else "small"
    if key not in sizes:
        valid = ", ".join(one for one in sizes if one is not None)
        why = f"valid choices are {valid}" if valid else "its size is part of it, change single keys instead"
        raise ValueError(f"preset '{name}' has no size {excerpt(size)}: {why}")
    return _MODEL.validate_python({"architecture": "rnn", **sizes[key], **changes})
