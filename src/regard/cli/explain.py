"""One decoder step of an attention mechanism: the equation, then scores, mask, weights and context in small numbers."""

from pathlib import Path
from typing import Annotated

import typer


def explain(
    mechanism: Annotated[
        str, typer.Argument(help="additive, dot, general, concat, scaled-dot, multi-head, local-m, local-p or none.")
    ],
    plot: Annotated[Path | None, typer.Option(help="Also draw the step as PNG or SVG.")] = None,
) -> None:
    from regard.lab.explain import explain as work
    from regard.lab.worked_text import draw_explanation, write_explanation

    explanation = work(mechanism)
    typer.echo(write_explanation(explanation))
    if plot is not None:
        draw_explanation(explanation, plot)
        typer.echo(f"drawn: {plot}", err=True)
