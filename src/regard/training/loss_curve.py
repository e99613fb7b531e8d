"""Draws the loss curve of a run from its journal."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.text.input_error import InputError
from regard.training.journal import NAME, read_journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 500
"""Steps are averaged in groups so that a long run still draws a readable line."""


def curve(folder: Path) -> "Figure":
    """Losses, validation scores and learning rate of the run in `folder`, from its journal."""
    from regard.plot import Series, curves

    entries = read_journal(folder / NAME)
    steps = [entry for entry in entries if entry["event"] == "step"]
    checks = [entry for entry in entries if entry["event"] == "validated"]
    if not steps:
        raise InputError(f"no curve to draw: {folder / NAME} is missing or holds no steps; name a run folder")
    size = -(-len(steps) // POINTS)
    groups = [steps[first : first + size] for first in range(0, len(steps), size)]
    ends = [group[-1]["step"] for group in groups]
    at = [entry["step"] for entry in checks]
    losses = [_number(entry["loss"]) for entry in checks]
    scored = [entry for entry in checks if entry["metric"] != "loss"]
    name = scored[0]["metric"].replace("_", " ") if scored else ""
    return curves(
        Series.of("training loss", ends, [_mean(group) for group in groups]),
        validation_loss=Series.of("validation loss", at, losses) if checks else None,
        scores=[Series.of(name, at, [_number(entry["score"]) for entry in scored])] if scored else [],
        learning_rate=Series.of("learning rate", ends, [group[-1]["rate"] for group in groups]),
    )


def _mean(group: list[dict[str, Any]]) -> float:
    """The mean of the losses that are numbers."""
    losses = [entry["loss"] for entry in group if entry["loss"] is not None]
    return sum(losses) / len(losses) if losses else math.nan


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def draw_curve(folder: Path) -> str | None:
    """Write `curve.png` into the run folder; the reason if that was not possible."""
    from regard.plot import save

    try:
        save(curve(folder), folder / "curve.png")
    except (OSError, ValueError) as error:
        return f"the loss curve was not drawn: {error}"
    return None
