"""A recipe: one TOML file with a table for each part, validated completely before anything runs."""

import os
from collections.abc import Iterable
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from regard.bounds import MOST, cut, excerpt
from regard.data.tables import FILE_KINDS, PATH_KINDS, DataConfig, Table, TextConfig
from regard.models.model_config import RecurrentConfig, TransformerConfig
from regard.models.presets import preset
from regard.reading_files import parse_toml, read_regular
from regard.search.search_config import SearchConfig
from regard.suggest import suggest
from regard.text.complaint import complain
from regard.text.input_error import InputError
from regard.training.train_config import TrainConfig

PUBLISHED = Path(str(files("regard"))) / "recipes"


class RecipeError(InputError):
    """An invalid recipe; the message names the key and, if possible, the nearest valid one."""


class Recipe(Table):
    """The complete configuration of a run."""

    description: str = ""
    """One line for the list of `regard train`."""
    data: DataConfig
    text: TextConfig = TextConfig()
    model: RecurrentConfig | TransformerConfig = Field(discriminator="architecture")
    train: TrainConfig
    search: SearchConfig = SearchConfig()

    @model_validator(mode="after")
    def _possible(self) -> "Recipe":
        text, train, model = self.text, self.train, self.model
        kinds = {text.source.kind, text.target.kind}
        if train.hide_words and kinds != {"word"}:
            raise ValueError(
                f"train.hide_words = {train.hide_words} hides whole words, but the pieces of [text] are of kind "
                f'{" and ".join(sorted(kinds))}: set kind = "word", or leave hide_words out (these kinds spell names)'
            )
        if train.agreement and not any(value for key, value in model if "dropout" in key):
            raise ValueError(
                f"train.agreement = {train.agreement} compares two passes with different dropout, but the model "
                "has no dropout: set model.dropout, or leave agreement out"
            )
        falls = train.teacher_forcing < 1 or train.teacher_forcing_schedule != "constant"
        if falls and isinstance(model, TransformerConfig):
            raise ValueError(
                "train.teacher_forcing: a Transformer trains on all steps at once and cannot read its own words in "
                "between: leave teacher_forcing at 1, or use an rnn model"
            )
        longest, most = self.search.longest, model.most_pieces
        for key, value, more in (
            ("text.longest_source", text.longest_source, int(text.source_eos)),
            ("text.longest_target", text.longest_target, 1),
            ("search.longest", longest if isinstance(longest, int) else None, 0),
        ):
            if most is not None and value is not None and value + more > most:
                raise ValueError(
                    f"{key} = {value}{' (and EOS)' * more}, but the model learns {most} positions: lower it to "
                    f"{most - more}, or raise model.longest"
                )
        return self


def load_recipe(name: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """A recipe by its published name or by the path of a TOML file, with `table.key=value` overrides.

    Paths in the file are relative to the file, paths in an override to the current folder. An override that changes
    `data.kind` discards the file's [data] table, because the keys of one kind do not apply to another.
    """
    path = find_recipe(name)
    return parse_recipe(read_recipe(path), path.name, overrides, base=path.parent)


def read_recipe(path: Path) -> dict[str, Any]:
    """The tables of a TOML file, not validated yet."""
    try:
        return parse_toml(read_regular(path, MOST["recipe"]).decode("utf-8"))
    except ValueError as error:
        raise RecipeError(_no_recipe(path, error)) from error
    except OSError as error:
        raise RecipeError(f"cannot read {path}: {error.strerror}") from error


def _no_recipe(path: Path, error: ValueError) -> str:
    if path.suffix != ".toml":
        return (
            f"{path} is not a recipe (a TOML file): the table [data] of a recipe names pairs to learn from, as in "
            f'kind = "tsv", train = "{path.name}"'
        )
    if isinstance(error, UnicodeDecodeError):
        return f"{path} is not UTF-8: byte {error.start}"
    return f"{path} is not valid TOML: {error}"


def parse_recipe(
    raw: dict[str, Any], name: str = "recipe", overrides: Iterable[str] = (), base: Path | None = None
) -> Recipe:
    """Check a recipe given as a dictionary; data paths are relative to `base`."""
    tables = deepcopy(raw)
    for override in sorted(overrides, key=lambda one: one.partition("=")[0].strip() != "data.kind"):  # data.kind first
        _override(tables, override)
    data = tables.get("data")
    if base is not None and isinstance(data, dict) and data.get("kind") in FILE_KINDS:
        tables["data"] = {"base": str(base.resolve()), **data}
    if base is not None:
        _find_links(tables, base)
    if isinstance(tables.get("model"), dict):
        tables["model"] = _resolve_preset(tables["model"], name)
    try:
        return Recipe.model_validate(tables)
    except ValidationError as error:
        raise RecipeError(f"{name}: {complain(error, Recipe, {'model': ('preset', 'size')})}") from error


def recipe_names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(path.stem for path in PUBLISHED.glob("*.toml"))


def find_recipe(name: str | Path) -> Path:
    """The file of a published recipe or of the user's own."""
    published = PUBLISHED / f"{name}.toml"
    if "/" not in str(name) and published.is_file():
        return published
    path = Path(name)
    if path.is_file():
        return path
    if path.suffix == ".toml" and path.parent.is_dir():
        beside = sorted(other.name for other in path.parent.glob("*.toml"))
        raise RecipeError(f"no recipe at {name}: {suggest(path.name, beside, 'recipes in this folder')}")
    raise RecipeError(
        f"no recipe '{name}': {suggest(str(name), recipe_names(), 'names')} (a path of your own ends in .toml)"
    )


def _resolve_preset(table: dict[str, Any], name: str) -> dict[str, Any]:
    """The preset's keys, changed by the other ones of the table."""
    rest = {key: value for key, value in table.items() if key not in ("preset", "size")}
    if "preset" not in table:
        if "size" in table:
            raise RecipeError(f'{name}: model.size belongs to a preset: name one, e.g. preset = "bahdanau"')
        return {"architecture": "rnn", **rest}
    for key in ("preset", "size"):
        if not isinstance(table.get(key, ""), str):
            raise RecipeError(f"{name}: model.{key} = {excerpt(table[key])}: expected text in quotes")
    try:
        return {**preset(table["preset"], table.get("size")).model_dump(), **rest}
    except ValueError as error:
        raise RecipeError(f"{name}: model.preset: {error}") from error


def _override(tables: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    parts = key.strip().split(".")
    if not equals or len(parts) < 2 or not all(parts):
        raise RecipeError(
            f"--set {cut(override)}: write table.key=value, as in --set {_with_table(cut(parts[-1]), cut(value))}"
        )
    try:
        parsed = parse_toml(f"value = {value}")["value"]
    except (ValueError, KeyError):
        parsed = value.strip()  # a bare word is a string: --set model.cell=lstm
    data = tables.get("data")
    kind = data.get("kind") if isinstance(data, dict) else None
    is_split = parts[0] == "data" and parts[1] in ("train", "dev", "test")  # or a path of its table: data.train.source
    is_path = parts == ["train", "guide", "links"] or (is_split and kind in PATH_KINDS)  # other kinds name their splits
    if is_path and isinstance(parsed, str):
        parsed = os.path.abspath(parsed)
    if parts == ["data", "kind"] and isinstance(data, dict) and kind != parsed:
        tables["data"] = {}
    table = tables
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise RecipeError(f"--set {cut(override)}: {cut(part)} is a value, not a table")
    table[parts[-1]] = parsed


def _with_table(key: str, value: str) -> str:
    """An example for the message: the given key with its table if exactly one table has it, else train.steps=500."""
    tables: dict[str, type[BaseModel]] = {
        "train": TrainConfig, "model": RecurrentConfig, "text": TextConfig, "search": SearchConfig,
    }  # fmt: skip
    owners = [name for name, table in tables.items() if key.strip() in table.model_fields]
    return f"{owners[0]}.{key.strip()}={value}" if len(owners) == 1 and value else "train.steps=500"


def _find_links(tables: dict[str, Any], base: Path) -> None:
    """train.guide.links in a file is relative to that file."""
    train = tables.get("train")
    guide = train.get("guide") if isinstance(train, dict) else None
    if isinstance(guide, dict) and isinstance(guide.get("links"), str):
        guide["links"] = str(base.resolve() / guide["links"])
