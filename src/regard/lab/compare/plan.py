"""The plan of a comparison: a recipe, variants of its model, seeds; checked before anything is trained."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.attention.build import SCORES
from regard.bounds import MOST
from regard.lab.scoring_protocol import find_protocol
from regard.models.model_config import RecurrentConfig
from regard.models.presets import preset
from regard.suggest import suggest
from regard.text.complaint import complain
from regard.text.input_error import InputError
from regard.training.recipe import Recipe, find_recipe, load_recipe, parse_recipe, read_recipe
from regard.training.run_folder import differences, own_classes

Tables = dict[str, Any]
"""Tables of a recipe that a variant changes."""
EXTRAS = ("transformer", "vanilla")
AXES: dict[str, tuple[str, ...]] = {
    "score": tuple(one for one in SCORES if one != "none"),
    "window": ("global", "local-m", "local-p"),
    "placement": ("input", "output", "output-fed"),
    "cell": ("gru", "lstm"),
}


class VariantGrid(BaseModel):
    """Every combination of these is a variant; an axis that is left out keeps the recipe's value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: tuple[str, ...] = ()
    window: tuple[str, ...] = ()
    placement: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()
    also: tuple[str, ...] = Field((), description="vanilla, transformer")


class Comparison(BaseModel):
    """A comparison: its own TOML file, or a plain recipe with options."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str
    recipes: tuple[str, ...] = Field((), description="further recipes, each a variant as it is")
    set: tuple[str, ...] = ()
    seeds: int = Field(3, ge=1, le=MOST["seeds"])
    sentences: int | None = Field(None, ge=1, le=MOST["count"], description="of the test set (default: all)")
    protocol: str = Field("model", description="how scores are counted, as `regard evaluate --protocol` does")
    shown: int = Field(3, ge=0, le=MOST["repeats"], description="sentences whose heat-maps are shown side by side")
    grid: VariantGrid = VariantGrid(also=())
    variants: dict[str, Tables] = Field({}, description="further variants: tables of the recipe that differ")


DEFAULT = VariantGrid(score=("additive", "dot", "general"), placement=("input", "output"), also=EXTRAS)
"""The variants of `regard compare RECIPE` without options."""


@dataclass(frozen=True)
class Variant:
    """One model of the comparison."""

    name: str
    recipe: Recipe

    @property
    def slug(self) -> str:
        """The name as a folder."""
        return re.sub(r"(?:[^\w.]|_)+", "-", self.name.lower()).strip("-.") or "variant"


@dataclass(frozen=True)
class Plan:
    """Everything that will be trained; `trust` names the classes outside regard that its runs may import."""

    comparison: Comparison
    variants: tuple[Variant, ...]
    skipped: dict[str, str]
    """Names of variants that cannot be built, each with the reason."""
    trust: tuple[str, ...] = ()


def load_comparison(name: str) -> Comparison:
    """A comparison from its TOML file, or the default one of a recipe."""
    path = find_recipe(name)
    raw = read_recipe(path)
    if "recipe" not in raw:
        if not raw.keys().isdisjoint(Comparison.model_fields):
            raise InputError(
                f'{path.name} has no recipe: set the one that every variant starts from, e.g. recipe = "demo"'
            )
        return Comparison.model_validate({"recipe": name, "grid": DEFAULT})
    try:
        found = Comparison.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path.name}: {complain(error, Comparison)}") from error
    given = (found.recipe, *found.recipes)
    first, *further = [str(path.parent / one) if (path.parent / one).is_file() else one for one in given]
    return found.model_copy(update={"recipe": first, "recipes": tuple(further)})


def make_plan(comparison: Comparison, file: str | None = None, trust: Collection[str] = ()) -> Plan:
    """The variants, each as a complete recipe, and the reasons why others cannot be built.

    `file` is where the comparison was read from: the user's own files may name classes outside regard.
    """
    base, further = load_recipe(comparison.recipe, comparison.set), comparison.recipes
    _check(comparison.grid)
    find_protocol(comparison.protocol)
    variants, skipped = list[Variant](), dict[str, str]()
    for name, tables in (*_grid(base, comparison.grid), *_extras(base, comparison.grid), *_own(comparison.variants)):
        try:
            variants.append(Variant(name, _changed_recipe(name, base, tables)))
        except InputError as error:
            skipped[name] = str(error)
    if further:
        named = _variant_names([comparison.recipe, *further])
        more = [Variant(named[one], load_recipe(one, comparison.set)) for one in further]
        variants = [*(variants if variants or skipped else [Variant(named[comparison.recipe], base)]), *more]
    if not variants and not skipped:
        variants = [Variant("the recipe as it is", base)]
    for name in {one.slug for one in variants}:
        same = [one.name for one in variants if one.slug == name]
        if len(same) > 1:
            raise InputError(f"two variants would share the folder {name}: {' and '.join(same)}; rename one")
    if not variants:
        name, reason = next(iter(skipped.items()))
        raise InputError(f"no variant can be built: {name}: {reason}")
    files = [comparison.recipe, *further, *([] if file is None else [file])]
    trusted = own_classes([one.recipe for one in variants], *files, trust=trust)
    return Plan(comparison, tuple(variants), skipped, trusted)


def compare_recipes(recipes: Sequence[str]) -> Comparison:
    """A comparison of several recipes as they are."""
    for name in recipes:
        if recipes.count(name) > 1:
            raise InputError(f"the recipe {name} was given twice: once is enough")
        if "recipe" in read_recipe(find_recipe(name)):
            raise InputError(f"{name} is a comparison: name it alone, or name recipes only")
    return Comparison.model_validate({"recipe": recipes[0], "recipes": recipes[1:]})


def _variant_names(recipes: Sequence[str]) -> dict[str, str]:
    """Names for the table: the file's, or the path where two files have the same name."""
    stems = [Path(one).stem for one in recipes]
    return {one: stem if stems.count(stem) == 1 else one for one, stem in zip(recipes, stems, strict=True)}


def _check(grid: VariantGrid) -> None:
    for axis, valid in (*AXES.items(), ("also", EXTRAS)):
        for value in getattr(grid, axis):
            if value not in valid and not (axis == "score" and ":" in value):
                raise InputError(f"{axis} '{value}': {suggest(value, valid)}")


def _grid(base: Recipe, grid: VariantGrid) -> Iterator[tuple[str, Tables]]:
    """Each combination of the grid: its name, and the tables of the recipe that it changes."""
    axes = {axis: getattr(grid, axis) for axis in AXES if getattr(grid, axis)}
    if not axes:
        return
    model = _recurrent(base)
    for chosen in product(*axes.values()):
        choice = dict(zip(axes, chosen, strict=True))
        yield " · ".join(chosen), {"model": _changed(model, choice)}


def _changed(model: RecurrentConfig, choice: dict[str, str]) -> dict[str, Any]:
    """The model's keys with one choice of the grid, and the changes that this choice requires."""
    keys = model.model_dump()
    keys |= {axis: value for axis, value in choice.items() if axis != "placement"}
    placement = choice.get("placement", keys["placement"])
    if "placement" in choice:
        keys |= {"placement": placement.removesuffix("-fed"), "input_feeding": placement == "output-fed"}
        if placement == "output-fed":
            keys["readout"] = "attentional"
    if keys["score"] in ("dot", "scaled-dot") and model.state_width != model.decoder_units:  # it needs equal widths
        units = model.decoder_units
        keys["encoder_units"] = units // 2 if model.bidirectional else units
        if model.initial == "sum" and model.bidirectional:
            keys["initial"] = "last"  # another one without parameters that fits these widths
    return keys


def _extras(base: Recipe, grid: VariantGrid) -> Iterator[tuple[str, Tables]]:
    model = _recurrent(base)
    if "transformer" in grid.also:
        units = model.decoder_units
        size = "tiny" if units <= 160 else "small" if units <= 384 else "base"
        steps = base.train.steps or 1000
        # Pre-norm Transformers of any size learn at this rate; the recurrent models' rate is often too high for them.
        train: dict[str, Any] = {"teacher_forcing": 1.0, "teacher_forcing_schedule": "constant"}
        train["learning_rate"] = min(base.train.learning_rate, 2e-3)
        train["warmup"] = max(base.train.warmup, steps // 10)
        keys = preset("transformer", size).model_dump()
        yield "transformer", {"model": keys, "train": train}
    if "vanilla" in grid.also:
        keys = model.model_dump() | {"score": "none", "window": "global", "placement": "input", "input_feeding": False}
        aligned = base.train.guide.weight or base.train.coverage  # losses on attention, which this model lacks
        train = {"guide": {"weight": 0.0}, "coverage": 0.0} if aligned else {}
        yield "vanilla", {"model": keys, "train": train}


def _own(variants: dict[str, Tables]) -> Iterator[tuple[str, Tables]]:
    for name, tables in variants.items():
        if not all(isinstance(table, dict) for table in tables.values()):
            raise InputError(f"variant '{name}': expected tables of a recipe, as in [variants.{name}.model]")
        yield name, tables


def _changed_recipe(name: str, base: Recipe, tables: Tables) -> Recipe:
    raw = base.model_dump(mode="json")
    for table, changes in tables.items():
        whole = table == "model" and ("architecture" in changes or "preset" in changes)
        raw[table] = changes if whole else {**raw.get(table, {}), **changes}
    return parse_recipe(raw, f"variant '{name}'")


def _recurrent(base: Recipe) -> RecurrentConfig:
    """The model that the grid varies: the recipe's or, if that is a Transformer, Bahdanau's of similar size."""
    if isinstance(base.model, RecurrentConfig):
        return base.model
    size = "tiny" if base.model.width <= 128 else "small" if base.model.width <= 256 else "base"
    found = preset("bahdanau", size)
    assert isinstance(found, RecurrentConfig)
    return found


def plan_changes(plan: Plan) -> dict[str, list[str]]:
    """For each variant, the recipe keys that differ from the first variant's."""
    recipes = {one.name: one.recipe.model_dump(mode="json") for one in plan.variants}
    first = next(iter(recipes.values()))
    return {name: differences(first, recipe, form="{key}: {old} → {new}") for name, recipe in recipes.items()}


def names(values: Sequence[str]) -> tuple[str, ...]:
    """Values of a repeatable option, which may also be joined by commas."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
