"""Time our training step against the textbook loop and others, on the same work, in one run.

All systems are checked to agree before they are timed. The limit is the time of the textbook's
matrix products alone, measured in the same run.

Examples:
    regard bench                                the small sizes, on the CPU, one thread
    regard bench --gpu --json bench.json        the paper's size on a GPU, kept as JSON
    regard bench --work multi30k --picture growth.png
    regard bench --without decode_one_operation the same without one accelerated implementation
"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.bounds import MOST
from regard.cli.escape import warn
from regard.cli.options import Parents, flag, number, output_file, value
from regard.suggest import suggest
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.lab.bench.time_training import TrainingTimes


def bench(
    work: Annotated[list[str] | None, value("NAME", "tutorial, multi30k, paper (repeatable).")] = None,
    gpu: Annotated[bool, flag("--gpu", "On the GPU; without --work, the paper's size.")] = False,
    compiled: Annotated[bool, flag("--compile", "Also the textbook loop's step with torch.compile.")] = False,
    without: Annotated[
        list[str] | None, value("ENTRY", "Switch off an accelerated implementation of training (repeatable).")
    ] = None,
    picture: Annotated[Path | None, output_file("Draw time and memory of attention by size.")] = None,
    json_: Annotated[Path | None, output_file("Write the figures as JSON.", "--json")] = None,
    parents: Parents = False,
    repeats: Annotated[
        int, number("Measurements of each system (default: 5); systems alternate.", MOST["repeats"], 1)
    ] = 5,
    threads: Annotated[
        int | None, number("CPU threads (default: OMP_NUM_THREADS, else 1).", MOST["threads"], 1)
    ] = None,
) -> None:
    import torch

    from regard.cli.output import check_outputs, check_picture, keep_record, write_picture
    from regard.lab.bench.growth import growth_figure, measure_growth
    from regard.lab.bench.time_training import entries_that_run, measure_training
    from regard.lab.bench.workload import WORKS
    from regard.lab.machine import describe_machine
    from regard.registry import entry_names
    from regard.registry import without as switched_off

    wanted = work or (["paper"] if gpu else ["tutorial", "multi30k"])
    if unknown := [name for name in wanted if name not in WORKS]:
        raise InputError(f"no work '{unknown[0]}' to measure: valid choices are {', '.join(WORKS)}")
    off = sorted(set(without or ()))
    if unknown := [name for name in off if name not in entry_names()]:
        names = suggest(unknown[0], sorted(entry_names()), "names")
        raise InputError(f"--without {unknown[0]}: no accelerated implementation has this name; {names}")
    if gpu and not torch.cuda.is_available():
        raise InputError("--gpu: torch sees no CUDA device here; leave --gpu out, or see `regard doctor`")
    if threads is None:
        threads = torch.get_num_threads() if os.environ.get("OMP_NUM_THREADS") else 1
    elif threads > (cores := os.cpu_count() or threads):
        raise InputError(f"--threads {threads}: this machine has {cores} cores: give at most that many")
    if picture is not None:
        check_picture(picture)
    check_outputs({"--picture": picture, "--json": json_}, parents=parents)
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if gpu else "cpu")
    if off and (unaffected := set(off).difference(*(entries_that_run(off, WORKS[name], device) for name in wanted))):
        raise InputError(
            f"--without {min(unaffected)}: it does not run in these training steps, so they do not measure it; "
            f"`python benchmarks/fast_entries.py --entry {min(unaffected)}`, in the repository, measures other models "
            "and decoding"
        )
    record: dict[str, Any] = {**describe_machine(device), "without": off, "training": [], "growth": []}
    typer.echo(f"{record['machine']}, {record['date']}{', without ' * bool(off)}{', '.join(off)}")
    with keep_record(record, json_), switched_off(*off):
        for name in wanted:
            found = measure_training(WORKS[name], device, repeats=repeats, compiled=compiled)
            record["training"].append(asdict(found))
            _show(found)
        if picture is not None:
            points = measure_growth(device, repeats=repeats)
            record["growth"] = [asdict(point) for point in points]
            write_picture(growth_figure(points, record["machine"]), picture)
            warn(f"drawn: {picture}")


def _show(found: "TrainingTimes") -> None:
    from regard.cli.screen import plain_table

    work = found.work
    typer.echo(
        f"\n{work.name}: {work.cell.upper()} {work.units}, embedding {work.embedding}, {work.vocabulary:,} words, "
        f"{work.rows} rows of {work.source} + {work.target}; gradients agree to {found.disagreement:.0e}"
    )
    rows = [("a training step", "ms", "tokens/s", "times", "MiB", "of the limit")]
    rows += [
        (
            timing.name,
            f"{timing.milliseconds:.1f}",
            f"{timing.tokens_per_second:,.0f}",
            f"{timing.ratio:.2f}",
            "–" if timing.mebibytes is None else f"{timing.mebibytes:,.0f}",
            "–" if timing.share is None else f"{timing.share:.0%}",
        )
        for timing in found.timings
    ]
    typer.echo("\n".join([*plain_table(rows), *found.notes]))
