"""Check this machine, or a recipe, data or a bundle: describe it, find problems, suggest remedies.

Examples:
    regard doctor
    regard doctor --fast              which accelerated implementations run here, and why
    regard doctor corpus.tsv
    regard doctor train.en train.fr
    regard doctor multi30k            a corpus of `regard data list`; a folder of data works too
"""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Trust, argument, flag
from regard.text.input_error import InputError


def doctor(
    path: Annotated[
        Path | None, argument("PATH", "A recipe, data file or folder, corpus, bundle or run (default: this machine).")
    ] = None,
    other: Annotated[Path | None, argument("OTHER", "The other side of a parallel corpus, line by line.")] = None,
    fast: Annotated[bool, flag("--fast", "Which accelerated implementations run here, and why not others.")] = False,
    trust: Trust = None,
) -> None:
    from regard.lab.bytecode import check_bytecode

    if fast and path is not None:
        raise InputError("--fast is about this machine: leave the path out")
    findings = [check_bytecode()] if path is None and not fast else []
    if fast:
        from regard.lab.fast_report import fast_report

        findings = fast_report()
    elif not any(finding.bad for finding in findings):  # the imports below would fail
        from regard.cli.screen import progress
        from regard.lab.examine import examine

        with progress("looking", None, wanted=path is not None) as advance:
            findings = [*examine(path, other, advance, trust or ()), *findings]
    for finding in findings:
        typer.echo("\n".join(finding.lines()))
    if any(finding.bad for finding in findings):
        raise typer.Exit(1)
