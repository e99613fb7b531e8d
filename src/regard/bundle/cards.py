"""Model cards of the models in the package: training data, quality and known weaknesses."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from regard.bundle.find import PRETRAINED, pretrained_names

CARD = "card.toml"


class Card(BaseModel):
    """The content of card.toml, beside the bundle it describes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    direction: str
    description: str
    score: str
    """The headline of `regard models`: metric, value and test set."""
    licence: str
    data: tuple[str, ...]
    """Each source of training text with its licence."""
    recipe: str
    """The command that trained it."""
    commit: str
    scores: dict[str, str]
    faults: tuple[str, ...]


def read_cards() -> dict[str, Card]:
    """The cards of all models in the package, by name."""
    return {
        name: Card.model_validate(tomllib.loads((PRETRAINED / name / CARD).read_text(encoding="utf-8")))
        for name in pretrained_names()
    }


def stored_bytes(name: str) -> int:
    """The size of a model's folder."""
    return sum(path.stat().st_size for path in Path(PRETRAINED / name).iterdir() if path.is_file())
