"""Declarations of command-line options, and the options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.bounds import MOST


def output_file(about: str, *names: str) -> Any:
    """An option that names a file to write; - is standard output."""
    return typer.Option(*names, metavar="FILE", help=about, parser=_output)


def _output(name: str) -> Path:
    return Path("/dev/stdout" if name == "-" else name)


def input_file(about: str, *names: str) -> Any:
    """An option that names a file to read."""
    return typer.Option(*names, metavar="FILE", help=about)


def flag(name: str, about: str) -> Any:
    return typer.Option(name, help=about)


def number(about: str, most: int, least: int | None = None) -> Any:
    """An option that takes a whole number."""
    return typer.Option(metavar="N", min=least, max=most, help=about)


def value(metavar: str, about: str, *names: str) -> Any:
    """An option that takes a name, a list or a folder."""
    return typer.Option(*names, metavar=metavar, help=about)


def argument(metavar: str, about: str) -> Any:
    return typer.Argument(metavar=metavar, help=about, show_default=False)


Bundle = Annotated[Path, argument("BUNDLE", "A model: a name of `regard models`, a bundle or run folder.")]
Beam = Annotated[int | None, number("Beam width (default: the recipe's).", MOST["beam"])]
Device = Annotated[str, value("NAME", "Device to compute on (default: cpu).")]
Ensemble = Annotated[list[Path] | None, value("BUNDLE", "A further model of the ensemble (repeatable).")]
LengthPenalty = Annotated[
    float | None, value("X", "Scores are divided by length^X (default: the recipe's).", "--length-penalty")
]
LongestSource = Annotated[
    int | None, number("Read up to N pieces of a text (default: as in training).", MOST["longest"])
]
Parents = Annotated[bool, flag("--parents", "Create missing folders of the output files.")]
Set = Annotated[
    list[str] | None, value("KEY=VALUE", "Change a recipe key: --set train.steps=500 (repeatable).", "--set")
]
Precision = Annotated[
    str, value("NAME", "float32 (default) or int8: 8-bit products on a CPU, faster; a few translations differ.")
]
Trust = Annotated[
    list[str] | None, value("MODULE:CLASS", "Allow this class that the model names (repeatable).", "--trust")
]


def repeat(**options: list[str] | None) -> list[str]:
    """The given repeatable options once more, for a command to resume with."""
    return [word for name, values in options.items() for one in values or () for word in (f"--{name}", one)]
