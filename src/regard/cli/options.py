"""Options that several verbs share, with the most that they take."""

from typing import Annotated

import typer

from regard.bounds import MOST

Beam = Annotated[int | None, typer.Option(metavar="N", max=MOST["beam"], help="Beam width; the recipe's if left out.")]
LongestSource = Annotated[
    int | None,
    typer.Option(metavar="N", max=MOST["longest"], help="Read up to N pieces of a text; as in training if left out."),
]
