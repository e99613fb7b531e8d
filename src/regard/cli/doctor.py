"""Check this machine, or a recipe, a data file or a bundle: what it is, what is odd about it, what to do.

Examples:
    regard doctor
    regard doctor corpus.tsv
"""

from pathlib import Path
from typing import Annotated

import typer


def doctor(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="A recipe, data file, bundle or run folder; this machine if left out."),
    ] = None,
) -> None:
    from regard.lab.doctor import examine

    findings = examine(path)
    for finding in findings:
        typer.echo(f"{finding.mark} {finding.text}")
    if any(finding.bad for finding in findings):
        raise typer.Exit(1)
