"""A recipe: one TOML file with a table for each part, checked whole before anything runs."""

import difflib
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.data.config import DataConfig, TextConfig
from regard.models.config import RecurrentConfig, TransformerConfig
from regard.models.presets import preset
from regard.search.config import SearchConfig
from regard.text.errors import InputError
from regard.train.config import TrainConfig


class RecipeError(InputError):
    """A recipe that cannot be used; the message names the key and, where it can, the one that was meant."""


class Recipe(BaseModel):
    """Everything that decides what a run computes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = ""
    data: DataConfig
    text: TextConfig = TextConfig()
    model: RecurrentConfig | TransformerConfig = Field(discriminator="architecture")
    train: TrainConfig
    search: SearchConfig = SearchConfig()


def load_recipe(name: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """A recipe by its published name or by the path of a TOML file, with `table.key=value` overrides."""
    path = find_recipe(name)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path.name} is not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path.name} is not UTF-8: byte {error.start}") from error
    for override in overrides:
        _override(raw, override)
    return parse_recipe(raw, path.name, base=path.parent)


def parse_recipe(raw: dict[str, Any], name: str = "recipe", base: Path | None = None) -> Recipe:
    """Check a recipe given as a dictionary; data paths are relative to `base`."""
    tables = {**raw}
    try:
        if isinstance(tables.get("model"), dict):
            tables["model"] = _resolve_preset(tables["model"])
        if base is not None and isinstance(tables.get("data"), dict) and "base" not in tables["data"]:
            tables["data"] = _anchor(tables["data"], base)
        return Recipe.model_validate(tables)
    except ValidationError as error:
        raise RecipeError(f"{name}: {_first_complaint(error, tables)}") from error
    except ValueError as error:
        raise RecipeError(f"{name}: [model] {error}") from error


def recipe_names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _published().iterdir() if entry.name.endswith(".toml"))


def find_recipe(name: str | Path) -> Path:
    published = Path(str(_published())) / f"{name}.toml"
    if not str(name).endswith(".toml") and published.is_file():
        return published
    path = Path(name)
    if path.is_file():
        return path
    near = difflib.get_close_matches(str(name), recipe_names(), n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise RecipeError(f"no recipe '{name}': {hint}give the path of a TOML file, or one of {', '.join(recipe_names())}")


def _published() -> Any:
    return files("regard") / "recipes"


def _resolve_preset(table: dict[str, Any]) -> dict[str, Any]:
    table = dict(table)
    name, size = table.pop("preset", None), table.pop("size", None)
    if name is None:
        if size is not None:
            raise ValueError("size belongs to a preset: name one with preset = …")
        return {"architecture": "rnn", **table}
    return preset(name, size, **table).model_dump()


def _anchor(data: dict[str, Any], base: Path) -> dict[str, Any]:
    return {**data, "base": str(base)} if data.get("kind") in ("tsv", "parallel") else data


def _override(raw: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise RecipeError(f"--set {override}: write table.key=value, as in --set train.steps=500")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()  # a bare word is a string: --set model.cell=lstm
    table = raw
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise RecipeError(f"--set {override}: '{part}' is a value, not a table")
    table[parts[-1]] = parsed


def _first_complaint(error: ValidationError, tables: dict[str, Any]) -> str:
    """pydantic's first finding as one line; an unknown key is answered with the nearest valid one."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    where = ".".join(part for part in path if _is_written(part, path, tables))
    if first["type"] == "extra_forbidden":
        valid = _valid_keys(path[:-1])
        near = difflib.get_close_matches(path[-1], valid, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"valid keys are {', '.join(valid)}"
        return f"unknown key {where}: {hint}"
    if first["type"] == "missing":
        return f"{where} is missing"
    message = first["msg"].removeprefix("Value error, ")
    given = first.get("input")
    shown = f" (given: {given!r})" if not isinstance(given, dict) else ""
    return f"{where}: {message}{shown}" if where else message


def _is_written(part: str, path: list[str], tables: dict[str, Any]) -> bool:
    """pydantic puts the chosen variant of a table into its paths; a user never wrote that part."""
    return not (
        len(path) > 1
        and part == path[1]
        and isinstance(tables.get(path[0]), dict)
        and part not in tables[path[0]]
        and len(path) > 2
    )


def _valid_keys(path: list[str]) -> list[str]:
    """The keys allowed at a place in the recipe."""
    models: list[Any] = [Recipe]
    for part in path:
        found: list[Any] = []
        for model in models:
            fields = getattr(model, "model_fields", {})
            if part in fields:
                found += _models_in(fields[part].annotation)
        models = found or [model for model in models if _is_variant(model, part)]
    return sorted({key for model in models for key in getattr(model, "model_fields", {})})


def _models_in(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_in(argument)]


def _is_variant(model: Any, tag: str) -> bool:
    return any(tag in getattr(field.annotation, "__args__", ()) for field in model.model_fields.values())
