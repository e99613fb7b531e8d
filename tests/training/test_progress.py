"""The effect of a validation on a run's progress: the best score, patience, and the plateau."""

import math
from dataclasses import asdict, replace

import pytest

from regard.training.job import Progress
from regard.training.train_config import TrainConfig


def config(**keys: object) -> TrainConfig:
    return TrainConfig.model_validate({"steps": 9, "batch_sentences": 1, "metric": "bleu", **keys})


def judge(scores: list[float], given: TrainConfig, losses: list[float] | None = None) -> Progress:
    """The progress after these validations; their losses are equal unless `losses` is given."""
    progress = Progress()
    for step, (score, loss) in enumerate(zip(scores, losses or [1.0] * len(scores), strict=True), start=1):
        progress = replace(progress, step=step).judged(score, score if given.metric == "loss" else loss, given)
    return progress


def test_the_best_is_kept_and_what_follows_is_counted_as_stale() -> None:
    progress = judge([1.0, 3.0, 2.0, 3.0], config())
    assert (progress.best_score, progress.best_step, progress.stale) == (3.0, 2, 2)


def test_a_loss_is_better_when_it_is_lower() -> None:
    progress = judge([1.0, 3.0, 0.5], config(metric="loss"))
    assert (progress.best_score, progress.best_step, progress.stale) == (0.5, 3, 0)


def test_nan_scores_are_never_best() -> None:
    progress = judge([math.nan, 0.7, math.nan], config(metric="loss"))
    assert (progress.best_score, progress.best_step) == (0.7, 2)
    assert not Progress().improved("bleu", math.nan, 1.0)


def test_the_validation_loss_decides_between_equal_scores() -> None:
    progress = judge([0.0, 0.0, 0.0, 0.0], config(), [9.0, 7.0, 8.0, 7.0])
    assert (progress.best_step, progress.best_loss, progress.stale) == (2, 7.0, 2)
    progress = judge([0.0, 2.0, 2.0, 1.0, 2.0], config(), [9.0, 9.0, 8.0, 1.0, 7.0])
    assert (progress.best_step, progress.best_loss, progress.stale) == (5, 7.0, 0), "a higher score comes first"
    assert judge([0.0] * 4, config(plateau_patience=0), [9.0, 8.0, 7.0, 6.0]).plateau == 0
    assert judge([0.0] * 4, config(plateau_patience=0), [9.0, 8.0, 8.0, 8.0]).plateau == 2


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_an_unknown_loss_is_worse_than_any_other(unknown: float | None) -> None:
    """Checkpoints of earlier versions have no loss beside their best score; a diverged model has none at all."""
    written = {**asdict(Progress(step=4, best_score=0.0, best_step=2)), "best_loss": unknown}
    if unknown is None:
        del written["best_loss"]
    before = Progress(**written)
    assert before.judged(0.0, math.nan, config()).best_step == 2
    assert before.judged(0.0, 5.0, config()).best_step == 4
    assert before.judged(0.0, 5.0, config()).best_loss == 5.0


def test_the_plateau_falls_after_its_patience_and_waits_again() -> None:
    plateaus = [judge([5.0, *[1.0] * stood], config(plateau_patience=1)).plateau for stood in range(6)]
    assert plateaus == [0, 0, 1, 1, 2, 2]


def test_the_training_loss_is_the_mean_since_the_last_validation() -> None:
    progress = Progress(loss_sum=6.0, loss_steps=3)
    assert progress.train_loss == 2.0
    assert math.isnan(progress.judged(1.0, 1.0, config()).train_loss)
