"""Train variants of a recipe with the same budget and several seeds, evaluate and compare them.

Without options: additive, dot and general attention, at the input and at the output,
against no attention and a Transformer. A comparison can also be a TOML file of its own.

Examples:
    regard compare reverse --seeds 2 --set train.epochs=2
    regard compare demo --score additive,general --window global,local-p --cell gru,lstm
    regard compare demo --also vanilla --jobs 2 --out runs/compare --resume
    regard compare a.toml b.toml --seeds 3             recipes as they are

The folder gets report.html, report.json, report.csv, report.tex and the charts as SVG and PDF.
"""

import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.bounds import MOST
from regard.cli.escape import print_json, warn
from regard.cli.options import Set, Trust, argument, flag, number, repeat, value
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.lab.compare.plan import Comparison, Plan
    from regard.lab.compare.run_plan import Slot

Names = list[str] | None


def compare(
    recipe: Annotated[list[str], argument("RECIPE", "A recipe, several, or a comparison's TOML file.")],
    score: Annotated[Names, value("LIST", "additive, dot, general, concat ...")] = None,
    window: Annotated[Names, value("LIST", "global, local-m, local-p")] = None,
    placement: Annotated[Names, value("LIST", "input, output, output-fed")] = None,
    cell: Annotated[Names, value("LIST", "gru, lstm")] = None,
    also: Annotated[Names, value("LIST", "vanilla, transformer")] = None,
    seeds: Annotated[int | None, number("Runs of each variant; usually 3.", MOST["seeds"], 1)] = None,
    set_: Set = None,
    sentences: Annotated[int | None, number("Test sentences to evaluate on (default: all).", MOST["count"], 1)] = None,
    protocol: Annotated[
        str | None, value("NAME", "Scoring protocol; the names are those of `regard evaluate --protocol`.")
    ] = None,
    jobs: Annotated[
        int | None, number("Parallel runs, also on one GPU (default: one for each core, or one).", MOST["threads"], 1)
    ] = None,
    out: Annotated[Path | None, value("DIR", "Run folder (default: runs/compare-RECIPE).")] = None,
    resume: Annotated[bool, flag("--resume", "Continue the comparison in the folder.")] = False,
    as_json: Annotated[bool, flag("--json", "Print report.json instead of the table.")] = False,
    trust: Trust = None,
) -> None:
    from regard.cli.screen import show_table
    from regard.lab.compare.comparison_page import table_rows, write_report
    from regard.lab.compare.export_files import export
    from regard.lab.compare.plan import make_plan
    from regard.lab.compare.results import gather
    from regard.lab.compare.run_plan import LOG, claimed, open_folder, together, warned
    from regard.lab.compare.significance import ABOUT, pair_up
    from regard.lab.machine import default_jobs

    axes = {"score": score, "window": window, "placement": placement, "cell": cell, "also": also}
    options = {"seeds": seeds, "sentences": sentences, "protocol": protocol}
    plan = make_plan(_comparison(recipe, axes, set_ or [], options), recipe[0], trust or ())
    folder = out or Path("runs") / f"compare-{'-'.join(Path(one).stem for one in recipe)}"
    slots = open_folder(plan, folder, resume=resume)
    for name, reason in plan.skipped.items():
        warn(f"left out: {name}: {reason}")
    count = jobs or default_jobs(plan.variants[0].recipe.train.device)
    with claimed(folder):
        failed, stopped = _run(plan, slots, count, folder)
    for line, names in warned(slots).items():
        warn(f"{_first(names)}: {line}")
    logs = {slot.name: slot.folder / LOG for slot in slots}
    for reason, names in together(failed.items()).items():
        warn(f"failed: {_first(names)}: {reason} ({logs[names[0]]})")
    rows = gather(plan, slots, failed)
    if any(row.runs for row in rows):
        pairs = pair_up(rows)
        content = write_report(plan, rows, count, folder, pairs)
        if as_json:
            print_json(content)
        else:
            show_table(table_rows(rows, pairs))
        if pairs:
            warn(f"p: BLEU against {rows[0].name}; {ABOUT}")
        files = [folder / "report.html", folder / "report.json", *export(rows, pairs, folder)]
        warn(f"written: {', '.join(map(str, files))}")
    if stopped:
        given = {name: [str(one)] for name, one in options.items() if one is not None}
        again = ["regard", "compare", *recipe, *repeat(**axes, set=set_, trust=trust, **given), "--out", str(folder)]
        warn(f"{stopped}. Continue with: {shlex.join([*again, '--resume'])}")
    if stopped or failed:
        raise typer.Exit(130 if stopped else 1)


def _first(names: list[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def _comparison(
    recipes: list[str], axes: dict[str, list[str] | None], changes: list[str], options: dict[str, Any]
) -> "Comparison":
    """The comparison of a file, a recipe or several, changed by the options."""
    from regard.lab.compare.plan import AXES, EXTRAS, VariantGrid, compare_recipes, load_comparison, names

    varied = next((f"--{axis}" for axis, values in axes.items() if values), None)
    if len(recipes) > 1 and varied:
        raise InputError(f"{varied} varies one recipe, and {len(recipes)} were given: leave one of them out")
    found = load_comparison(recipes[0]) if len(recipes) == 1 else compare_recipes(recipes)
    chosen = {axis: names(values) for axis, values in axes.items() if values}
    for axis, named in chosen.items():
        if not named:
            some = (EXTRAS if axis == "also" else AXES[axis])[0]
            raise InputError(f"--{axis} is empty: name some, e.g. --{axis} {some}, or leave it out")
        for one in named:
            if named.count(one) > 1:
                raise InputError(f"--{axis} names '{one}' twice: once is enough")
    update: dict[str, Any] = {"grid": VariantGrid.model_validate(chosen)} if chosen else {}
    update |= {name: value for name, value in options.items() if value is not None}
    return found.model_copy(update={**update, "set": (*found.set, *changes)})


def _run(plan: "Plan", slots: "list[Slot]", jobs: int, folder: Path) -> tuple[dict[str, str], str]:
    """Run the plan and update the report after each run; returns the failures, and a message if it was interrupted."""
    from regard.cli.screen import progress
    from regard.cli.training_display import Clock
    from regard.lab.compare.comparison_page import write_report
    from regard.lab.compare.results import gather
    from regard.lab.compare.run_plan import ComparisonStopped, run_plan

    shown: set[str] = set()
    clock = Clock()
    reported = sum(slot.result() is not None for slot in slots)
    with progress(f"{len(slots)} runs, {jobs} at a time, %", 100) as bar:

        def show(done: int, running: Collection[str], steps: float) -> None:
            nonlocal reported
            bar(round(100 * steps))
            if done > reported:
                reported = done
                rows = gather(plan, slots, {})
                if any(row.runs for row in rows):
                    write_report(plan, rows, jobs, folder)
            left = clock.left(steps)
            for name in running:
                if name not in shown:
                    shown.add(name)
                    warn(f"training {name} ({done} of {len(slots)} done{left})")
            if not sys.stderr.isatty() and clock.due():
                warn(f"{steps:.0%} of all steps{left}")

        try:
            return run_plan(plan, slots, jobs, show), ""
        except ComparisonStopped as stop:
            return {}, str(stop)
