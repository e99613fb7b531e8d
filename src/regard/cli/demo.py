"""Train on the embedded phrasebook, translate, and see the alignment, in about three minutes."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    pair: Annotated[str, typer.Option(help="en-fr, fr-en or en-hi.")] = "en-fr",
    seed: Annotated[int, typer.Option(help="Another seed trains on other sentences.")] = 0,
    out: Annotated[Path, typer.Option(help="Run folder.")] = Path("runs/demo"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted demo.")] = False,
) -> None:
    from regard.cli.progress import TrainingDisplay
    from regard.cli.screen import console, show_map, show_measured
    from regard.lab.demo import run_demo

    with TrainingDisplay() as display:
        done = run_demo(pair, out, seed=seed, overwrite=not resume, resume=resume, listener=display)
    screen = console()
    wanted, first = done.showcase[0]
    show_map(screen, first)
    for gold, translation in done.showcase:
        mark = "✓" if translation.text == gold.target else f"✗ (wanted: {gold.target})"
        screen.print(f"{gold.source}\n  → {translation.text} {mark}", markup=False, highlight=False)
    screen.print()
    show_measured(screen, done.measured, done.longer)
    screen.print(
        f"\nTrained in {done.train_seconds:.0f} s. Look: {out / 'report.html'}, {out / 'alignment.png'}\n"
        f'Go on:  regard translate {out} "{wanted.source}" --walk',
        markup=False,
        highlight=False,
    )
    if done.interrupted:
        typer.echo(f"interrupted; go on with: regard demo --pair {pair} --seed {seed} --out {out} --resume", err=True)
        raise typer.Exit(130)
