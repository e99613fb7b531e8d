"""The option --trust, the same for every verb that loads a bundle."""

from typing import Annotated

import typer

Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="MODULE:CLASS", help="Allow this code that the model names (repeatable)."),
]
