"""Train what a recipe describes: a published name, or the path of a TOML file.

Examples:
    regard train                                       list the recipes
    regard train reverse                               a published one
    regard train mine.toml --set train.steps=500       your own, with a key changed
    regard train --resume runs/mine                    continue after Ctrl-C
    regard train --keys                                every key of a recipe, with its default

Several workers: torchrun --nproc-per-node=4 -m regard train RECIPE (docs/guides/several-devices.md).
"""

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Set, Trust, argument, flag, repeat, value
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.training.recipe import Recipe


def train(
    recipe: Annotated[
        str | None, argument("RECIPE", "A recipe's name, or the path of a TOML file (default: list them).")
    ] = None,
    set_: Set = None,
    out: Annotated[Path | None, value("DIR", "Run folder (default: runs/RECIPE).")] = None,
    resume: Annotated[bool, flag("--resume", "Continue a run; its folder alone is enough.")] = False,
    overwrite: Annotated[bool, flag("--overwrite", "Replace the run in the folder.")] = False,
    deterministic: Annotated[bool, flag("--deterministic", "Bit-equal runs from equal seeds.")] = False,
    keys: Annotated[bool, flag("--keys", "List every recipe key: type, default, meaning.")] = False,
    trust: Trust = None,
) -> None:
    from regard.cli.training_display import TrainingDisplay, show_score, with_snapshots
    from regard.training.run import train as run
    from regard.training.world import find_world

    if keys:
        from regard.training.recipe_keys import text_of_keys

        typer.echo(text_of_keys())
        return
    if recipe is None and resume and out is not None:
        recipe = str(out)
    if recipe is None:
        if resume:
            raise InputError("--resume needs the folder of a run, as in regard train --resume runs/mine")
        typer.echo(_list_recipes())
        return
    world = find_world()
    overrides = [*(set_ or ()), *(["train.deterministic=true"] if deterministic else [])]
    planned, out = _run_recipe(recipe, out) if resume else (recipe, out)
    folder = out or Path("runs") / Path(recipe).stem
    trusted = _trusted(planned, overrides, trust or ())
    with TrainingDisplay() if world.writer else nullcontext() as display:
        listener = display and with_snapshots(display, folder, trusted)
        result = run(
            planned, folder, overrides=overrides, resume=resume, overwrite=overwrite, listener=listener,
            trust=trust or (),
        )  # fmt: skip
    if not world.writer:
        raise typer.Exit(130 if result.reason == "interrupted" else 0)
    progress = result.progress
    if result.reason == "interrupted":
        start = ["regard"] if world.size == 1 else ["torchrun", f"--nproc-per-node={world.local_size}", "-m", "regard"]
        changes = [*repeat(set=set_, trust=trust), *["--deterministic"] * deterministic]
        place = [recipe, *changes, "--out", str(result.folder)] if planned is recipe else [recipe, *changes]
        command = shlex.join([*start, "train", *place, "--resume"])
        typer.echo(f"interrupted at step {progress.step:,}; saved. Continue with: {command}", err=True)
        raise typer.Exit(130)
    if not result.steps:
        typer.echo(
            f"{result.folder} is finished already, at step {progress.step:,}; --overwrite trains it again", err=True
        )
    if progress.best_score is not None:
        shown = show_score(result.metric, progress.best_score)
        typer.echo(f"best {shown} at step {progress.best_step:,}", err=True)
    command = shlex.join(["regard", "translate", str(result.folder), *repeat(trust=list(trusted))])
    typer.echo(f"translate with: {command}", err=True)
    typer.echo(str(result.folder))


def _trusted(planned: "Recipe | str", overrides: list[str], trust: Sequence[str]) -> tuple[str, ...]:
    """The classes outside regard that this training imports: those of --trust and those of the user's own recipe."""
    from regard.training.recipe import Recipe, load_recipe
    from regard.training.run_folder import own_classes

    if isinstance(planned, Recipe):
        return tuple(trust)
    return own_classes([load_recipe(planned, overrides)], planned, trust=trust)


def _run_recipe(name: str, out: Path | None) -> "tuple[Recipe | str, Path | None]":
    """The recipe of the run folder `name` and that folder; `name` and `out` if it is not a run folder.

    The recipe in a run folder may come from another person: its classes are imported only if --trust names them.
    """
    from regard.training.recipe import recipe_names
    from regard.training.run_folder import is_run, read_run_recipe

    folder = Path(name)
    if not folder.is_dir():
        if not folder.exists() and folder.suffix != ".toml" and name not in recipe_names():
            raise InputError(f"nothing to resume: there is no folder {folder}")
        return name, out
    if out is not None and out.resolve() != folder.resolve():
        raise InputError(f"--resume continues in {folder}, but --out names {out}: leave one of them out")
    if not is_run(folder):
        raise InputError(f"nothing to resume in {folder}: there is no run")
    return read_run_recipe(folder), folder


def _list_recipes() -> str:
    """Every published recipe with its description: first those that need no download."""
    from regard.cli.usage import table
    from regard.training.recipe import load_recipe, recipe_names

    recipes = {name: load_recipe(name) for name in recipe_names()}
    lines = []
    for title, stored in (("Without a download", False), ("From a corpus (regard data list)", True)):
        chosen = [(name, one.description) for name, one in recipes.items() if (one.data.kind == "catalogue") is stored]
        lines += [f"{title}:", *table(chosen), ""]
    return "\n".join([*lines, "regard train NAME trains one. Your own is a TOML file: see README.md, Your own pairs."])
