"""The models in the package: direction, size, score, licence; the model card of one.

Every command and `regard.load` accept these names in place of a bundle.

Examples:
    regard models
    regard models demo-en-fr
    regard translate demo-en-fr "The black cat sat on the mat."
"""

import json
from typing import Annotated

import typer

from regard.suggest import closest
from regard.text.input_error import InputError


def models(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show the card of this model.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the cards as JSON.")] = False,
) -> None:
    from regard.bundle.cards import read_cards, stored_bytes

    cards = read_cards()
    if name is not None and name not in cards:
        near = closest(name, cards)
        hint = "valid" if near is None else f"did you mean '{near}'? Valid"
        raise InputError(f"no model '{name}' in the package: {hint} names are {', '.join(cards)}")
    chosen = cards if name is None else {name: cards[name]}
    if as_json:
        content = {one: {**card.model_dump(), "bytes": stored_bytes(one)} for one, card in chosen.items()}
        typer.echo(json.dumps(content, ensure_ascii=False, indent=2))
        return
    if name is None:
        rows = [("name", "direction", "size", "score", "licence")]
        rows += [
            (one, c.direction, f"{stored_bytes(one) / 1e6:.1f} MB", c.score, c.licence) for one, c in cards.items()
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            typer.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
        return
    card = cards[name]
    typer.echo(f"{name}: {card.description}\n")
    lines = [("direction", card.direction), ("size", f"{stored_bytes(name) / 1e6:.1f} MB"), ("licence", card.licence)]
    lines += [("data", one) for one in card.data] + [("trained with", card.recipe), ("commit", card.commit)]
    lines += list(card.scores.items()) + [("known fault", one) for one in card.faults]
    width = max(len(label) for label, _ in lines) + 2
    for label, value in lines:
        typer.echo(f"{label:<{width}}{value}")
