"""The loss curve that a run leaves behind."""

from pathlib import Path
from typing import TYPE_CHECKING

from regard.text.errors import InputError

from regard.train.journal import read_journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 500
"""Steps are averaged in groups so that a long run still draws a readable line."""


def curve(folder: Path) -> "Figure":
    """Losses, validation scores and learning rate of the run in `folder`, from its journal."""
    from regard.plot import Series, curves

    entries = read_journal(folder / "journal.jsonl")
    steps = [entry for entry in entries if entry["event"] == "step"]
    checks = [entry for entry in entries if entry["event"] == "validated"]
    if not steps:
        raise InputError(f"no curve to draw: {folder / 'journal.jsonl'} is missing or holds no steps; name a run folder")
    size = max(1, len(steps) // POINTS)
    groups = [steps[first : first + size] for first in range(0, len(steps), size)]
    ends = [group[-1]["step"] for group in groups]
    at = [entry["step"] for entry in checks]
    scored = [entry for entry in checks if entry["metric"] != "loss"]
    return curves(
        Series.of("training loss", ends, [sum(entry["loss"] for entry in group) / len(group) for group in groups]),
        validation_loss=Series.of("validation loss", at, [entry["loss"] for entry in checks]) if checks else None,
        scores=[Series.of(scored[0]["metric"].replace("_", " "), at, [entry["score"] for entry in scored])] if scored else [],
        learning_rate=Series.of("learning rate", ends, [group[-1]["rate"] for group in groups]),
    )


def draw_curve(folder: Path) -> str | None:
    """Write `curve.png` into the run folder; the reason if that was not possible."""
    from regard.plot import save

    try:
        save(curve(folder), folder / "curve.png")
    except (OSError, ValueError) as error:
        return f"the loss curve was not drawn: {error}"
    return None
