"""One decoder step of an attention mechanism: the equation, then scores, mask, weights and context in small numbers.

Examples:
    regard explain additive
    regard explain additive --walk
    regard explain local-p --plot local-p.png
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.escape import warn
from regard.cli.options import Parents, argument, output_file
from regard.text.input_error import InputError


def explain(
    mechanism: Annotated[str | None, argument("MECHANISM", "Its name or its author's (default: list them).")] = None,
    plot: Annotated[Path | None, output_file("Also draw the step as PNG, SVG or PDF.")] = None,
    walk: Annotated[bool, typer.Option("--walk", help="Stop after each stage; Enter shows the next one.")] = False,
    parents: Parents = False,
) -> None:
    from regard.cli.output import check_outputs, check_picture, write_picture
    from regard.lab.explanation import explain as work
    from regard.lab.worked_text import draw_explanation, explanation_blocks, list_mechanisms

    if mechanism is None:
        if plot is not None or walk:
            raise InputError("--plot and --walk are about one mechanism: name it")
        typer.echo(list_mechanisms())
        return
    explanation = work(mechanism)
    if plot is not None:
        check_picture(plot)
        check_outputs({"--plot": plot}, parents=parents)
    blocks = explanation_blocks(explanation)
    if walk:
        _walk(blocks)
    else:
        typer.echo("\n\n".join(blocks))
    if plot is not None:
        write_picture(draw_explanation(explanation), plot)
        warn(f"drawn: {plot}")


def _walk(blocks: list[str]) -> None:
    """One stage after the other; without a keyboard all at once."""
    for number, block in enumerate(blocks, 1):
        typer.echo(block)
        if number < len(blocks) and sys.stdin.isatty() and sys.stdout.isatty():
            try:
                answer = input(f"-- {number} of {len(blocks)}: Enter for the next, q to stop -- ")
            except EOFError:
                return
            if answer.strip().lower() == "q":
                return
        else:
            typer.echo("")
