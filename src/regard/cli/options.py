"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any

import typer

Parents = Annotated[bool, typer.Option("--parents", help="Create missing folders of the files to write.")]


def output_file(about: str, *names: str) -> Any:
    """An option that names a file to write; - is standard output."""
    return typer.Option(*names, metavar="FILE", help=about, parser=_output)


def _output(name: str) -> Path:
    return Path("/dev/stdout" if name == "-" else name)
