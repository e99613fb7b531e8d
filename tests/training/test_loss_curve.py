"""The loss curve drawn from a journal."""

import math
from pathlib import Path

import pytest

from regard.text.input_error import InputError
from regard.training.journal import Journal, Stepped, Validated
from regard.training.loss_curve import POINTS, curve, draw_curve


def write(folder: Path, steps: int, metric: str = "bleu") -> None:
    journal = Journal(folder)
    for step in range(1, steps + 1):
        loss = math.nan if step == 3 else 5 / step
        journal.write(Stepped(step, 0, loss, 0.1, 1.0, 9.0, 1.0))
        if step % max(1, steps // 3) == 0:
            journal.write(Validated(step, 0, 2.0, 1.0 / step, metric, 10.0, True, ("", "", ""), 1.0))  # type: ignore[arg-type]


def test_losses_scores_and_rate_are_drawn_from_the_journal(tmp_path: Path) -> None:
    write(tmp_path, 9)
    figure = curve(tmp_path)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["loss", "learning rate", "bleu"]
    line = figure.axes[0].get_lines()[0]
    drawn = [float(value) for value in line.get_ydata()]
    assert drawn[:2] == [5.0, 2.5]
    assert math.isnan(drawn[2]), "a loss that was not a number is a gap"


def test_a_long_run_is_drawn_with_few_points(tmp_path: Path) -> None:
    write(tmp_path, 3 * POINTS + 1, metric="loss")
    figure = curve(tmp_path)
    assert len(figure.axes) == 2, "no score where the metric is the loss"
    assert max(len(line.get_xdata()) for line in figure.axes[0].get_lines()) <= POINTS


def test_there_must_be_steps_to_draw(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no curve to draw: .*journal.jsonl is missing or holds no steps"):
        curve(tmp_path)
    assert (draw_curve(tmp_path) or "").startswith("the loss curve was not drawn: no curve to draw")


def test_an_unwritable_curve_gives_only_a_note(tmp_path: Path) -> None:
    write(tmp_path, 3)
    (tmp_path / "curve.png").mkdir()
    assert "the loss curve was not drawn" in (draw_curve(tmp_path) or "")
