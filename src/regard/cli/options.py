"""Options that several verbs share, with the most that they take."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.bounds import MOST

Beam = Annotated[int | None, typer.Option(metavar="N", max=MOST["beam"], help="Beam width; the recipe's if left out.")]
LongestSource = Annotated[
    int | None,
    typer.Option(metavar="N", max=MOST["longest"], help="Read up to N pieces of a text; as in training if left out."),
]
Parents = Annotated[bool, typer.Option("--parents", help="Create missing folders of the files to write.")]


def output_file(about: str, *names: str) -> Any:
    """An option that names a file to write; - is standard output."""
    return typer.Option(*names, metavar="FILE", help=about, parser=_output)


def _output(name: str) -> Path:
    return Path("/dev/stdout" if name == "-" else name)
