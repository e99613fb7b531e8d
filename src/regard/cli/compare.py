"""Train variants of a recipe under one budget with several seeds, measure them, and lay them side by side.

Without options: additive, dot and general attention, at the input and at the output,
against no attention and a Transformer. A comparison can also be a TOML file of its own.

Examples:
    regard compare reverse --seeds 2 --set train.epochs=2
    regard compare demo --score additive,general --window global,local-p --cell gru,lstm
    regard compare demo --also vanilla --jobs 2 --out runs/compare --resume
"""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.bounds import MOST
from regard.cli.options import Trust

if TYPE_CHECKING:
    from regard.lab.compare.plan import Comparison, Plan
    from regard.lab.compare.results import Row
    from regard.lab.compare.run import Slot


def compare(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A recipe, or a comparison's TOML file.")],
    score: Annotated[list[str] | None, typer.Option(metavar="LIST", help="additive, dot, general, concat ...")] = None,
    window: Annotated[list[str] | None, typer.Option(metavar="LIST", help="global, local-m, local-p")] = None,
    placement: Annotated[list[str] | None, typer.Option(metavar="LIST", help="input, output, output-fed")] = None,
    cell: Annotated[list[str] | None, typer.Option(metavar="LIST", help="gru, lstm")] = None,
    also: Annotated[list[str] | None, typer.Option(metavar="LIST", help="vanilla, transformer")] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=MOST["seeds"], help="Runs of each variant; usually 3.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a key for all: --set train.steps=500 (repeatable).")
    ] = None,
    sentences: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST["count"], help="Test sentences to measure on; all if left out."),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="How scores are counted, as in regard evaluate.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST["threads"],
            help="Runs side by side, also on one GPU; one a core, or one, if left out.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="runs/compare-RECIPE if left out.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the comparison in the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of the table.")] = False,
    trust: Trust = None,
) -> None:
    from regard.cli.screen import warn
    from regard.lab.compare.machine import default_jobs, describe_machine
    from regard.lab.compare.plan import make_plan
    from regard.lab.compare.results import gather
    from regard.lab.compare.run import LOG, claimed, open_folder, together, warned
    from regard.lab.compare.write import write_report

    axes = {"score": score, "window": window, "placement": placement, "cell": cell, "also": also}
    options = {"seeds": seeds, "sentences": sentences, "protocol": protocol}
    plan = make_plan(_asked(recipe, axes, set_ or [], options), recipe, trust or ())
    folder = out or Path("runs") / f"compare-{Path(recipe).stem}"
    slots = open_folder(plan, folder, resume=resume)
    for variant in plan.variants:
        if variant.skipped:
            warn(f"left out: {variant.name}: {variant.skipped}")
    first = plan.possible[0].recipe
    count = jobs or default_jobs(first.train.device if first is not None else "auto")
    with claimed(folder):
        failed, stopped = _run(plan, slots, count, folder)
    rows = gather(plan, slots, failed)
    for line, names in warned(slots).items():
        warn(f"{_first(names)}: {line}")
    logs = {slot.name: slot.folder / LOG for slot in slots}
    for reason, names in together(failed.items()).items():
        warn(f"failed: {_first(names)}: {reason} ({logs[names[0]]})")
    if any(row.runs for row in rows):
        found = write_report(plan, rows, describe_machine(count), folder)
        if as_json:
            typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            _show(rows)
        warn(f"written: {folder / 'report.html'}, {folder / 'report.json'}")
    if stopped:
        again = ["regard", "compare", recipe, *_again(axes, set_ or [], options, trust or []), "--out", str(folder)]
        warn(f"{stopped}. Go on with: {shlex.join([*again, '--resume'])}")
    if stopped or failed:
        raise typer.Exit(130 if stopped else 1)


def _first(names: list[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def _asked(recipe: str, axes: dict[str, list[str] | None], changes: list[str], options: dict[str, Any]) -> "Comparison":
    """The comparison that a file or a recipe describes, changed by the options."""
    from regard.lab.compare.plan import AXES, EXTRAS, Grid, load_comparison, names
    from regard.text.errors import InputError

    found = load_comparison(recipe)
    chosen = {axis: names(values) for axis, values in axes.items() if values}
    for axis, named in chosen.items():
        if not named:
            some = (EXTRAS if axis == "also" else AXES[axis])[0]
            raise InputError(f"--{axis} names nothing: say which, e.g. --{axis} {some}, or leave it out")
        for one in named:
            if named.count(one) > 1:
                raise InputError(f"--{axis} names '{one}' twice: once is enough")
    update: dict[str, Any] = {"grid": Grid.model_validate(chosen)} if chosen else {}
    update |= {name: value for name, value in options.items() if value is not None}
    return found.model_copy(update={**update, "set": (*found.set, *changes)})


def _again(
    axes: dict[str, list[str] | None], changes: list[str], options: dict[str, Any], trust: list[str]
) -> list[str]:
    """The options once more, for the command that goes on."""
    words = [word for axis, values in axes.items() for value in values or () for word in (f"--{axis}", value)]
    words += [word for one in changes for word in ("--set", one)]
    words += [word for one in trust for word in ("--trust", one)]
    return words + [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]


def _run(plan: "Plan", slots: "list[Slot]", jobs: int, folder: Path) -> tuple[dict[str, str], str]:
    """The runs that failed, and what to say where somebody stopped it. The report follows every run that is done."""
    from regard.cli.screen import progress, warn
    from regard.lab.compare.machine import describe_machine
    from regard.lab.compare.results import gather
    from regard.lab.compare.run import State, Stopped, run_plan
    from regard.lab.compare.write import write_report

    told: set[str] = set()
    reported = sum(slot.result() is not None for slot in slots)
    with progress(f"{len(slots)} runs, {jobs} at a time, %", 100) as bar:

        def tell(state: State) -> None:
            nonlocal reported
            bar(round(100 * state.steps))
            if state.done > reported:
                reported = state.done
                rows = gather(plan, slots, {})
                if any(row.runs for row in rows):
                    write_report(plan, rows, describe_machine(jobs), folder)
            for name in state.running:
                if name not in told:
                    told.add(name)
                    warn(f"training {name} ({state.done} of {state.total} done)")

        try:
            return run_plan(plan, slots, jobs, tell), ""
        except Stopped as stop:
            return {}, str(stop)


def _show(rows: "list[Row]") -> None:
    """The table, wider than most terminals."""
    from regard.cli.screen import plain_table
    from regard.lab.compare.report import heads, table_rows

    typer.echo("\n".join(plain_table([heads(), *table_rows(rows)])))
