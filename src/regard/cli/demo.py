"""Train on the embedded phrasebook, translate, and see the alignment, in about three minutes.

Examples:
    regard demo
    regard demo --pair en-hi --out runs/hindi
"""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from regard.bounds import MOST
from regard.cli.escape import warn
from regard.cli.options import flag, number, value


def demo(
    pair: Annotated[str, value("PAIR", "en-fr (default), fr-en or en-hi.")] = "en-fr",
    seed: Annotated[
        int, number("Another seed trains on other sentences (default: 0).", MOST["seed"], -MOST["seed"])
    ] = 0,
    out: Annotated[Path, value("DIR", "Run folder (default: runs/demo). Replaces an earlier demo there.")] = Path(
        "runs/demo"
    ),
    resume: Annotated[bool, flag("--resume", "Continue an interrupted demo.")] = False,
) -> None:
    from regard.cli.screen import console, progress, show_map, show_measured
    from regard.cli.training_display import TrainingDisplay, with_snapshots
    from regard.data import phrasebook
    from regard.lab.run_demo import (
        LONGER,
        SAMPLE,
        SENTENCES,
        pretrained_example,
        pretrained_model,
        show_demo,
        train_demo,
    )

    screen = console()
    if not resume:
        example = pretrained_example(pair)
        screen.print(f"{pretrained_model(pair)}, a model of the package: {example.source}  →  {example.text}\n")
        show_map(screen, example, words=True)
        screen.print("Now a new model is trained from scratch on a phrasebook, in about three minutes.\n")
    with TrainingDisplay() as display:
        result = train_demo(pair, out, seed=seed, resume=resume, listener=with_snapshots(display, out))
    if result.reason == "interrupted":
        warn(f"interrupted; continue with: regard demo --pair {pair} --seed {seed} --out {quote(str(out))} --resume")
        raise typer.Exit(130)
    seconds = result.progress.seconds
    with progress("measuring", SENTENCES + SAMPLE * len(LONGER)) as advance:
        done = show_demo(pair, out, seed=seed, train_seconds=seconds, progress=advance)
    screen.print()
    first = phrasebook.as_written(done.showcase[0].translation.source)
    screen.print(f"{first}  →  {done.showcase[0].translation.text}\n")
    show_map(screen, done.showcase[0].translation)
    for one in done.showcase:
        mark = "✓" if one.right else f"✗  expected: {one.reference}"
        screen.print(f"{phrasebook.as_written(one.translation.source)}\n  → {one.translation.text}  {mark}")
    screen.print()
    sentences = done.measured.evaluation.sentences
    show_measured(screen, f"{sentences:,} sentences that the model never saw:", done.measured, done.longer)
    screen.print(f"\nTrained in {seconds:.0f} s. See {out / 'report.html'} and {out / 'alignment.png'}. Next:")
    screen.print(f"  regard translate {quote(str(out))}")
    screen.print(f'  regard translate {quote(str(out))} "{first}" --walk')
    screen.print("  regard explain additive")
