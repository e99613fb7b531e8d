"""Options that several verbs share, with their upper bounds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.bounds import MOST


def output_file(about: str, *names: str) -> Any:
    """An option that names a file to write; - is standard output."""
    return typer.Option(*names, metavar="FILE", help=about, parser=_output)


def _output(name: str) -> Path:
    return Path("/dev/stdout" if name == "-" else name)


def input_file(about: str) -> Any:
    """An option that names a file to read."""
    return typer.Option(metavar="FILE", help=about)


Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle or run folder.")]
Beam = Annotated[int | None, typer.Option(metavar="N", max=MOST["beam"], help="Beam width; the recipe's if left out.")]
Device = Annotated[str, typer.Option(metavar="NAME", help="Device to compute on; cpu if left out.")]
Ensemble = Annotated[
    list[Path] | None, typer.Option(metavar="BUNDLE", help="A further model of the ensemble (repeatable).")
]
LongestSource = Annotated[
    int | None,
    typer.Option(metavar="N", max=MOST["longest"], help="Read up to N pieces of a text; as in training if left out."),
]
Parents = Annotated[bool, typer.Option("--parents", help="Create missing folders of the output files.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key: --set train.steps=500 (repeatable)."),
]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="MODULE:CLASS", help="Allow this class that the model names (repeatable)."),
]
