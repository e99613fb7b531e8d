"""What a validation changes about a run's progress: the best, patience, and the plateau."""

import math
from dataclasses import replace

from regard.train.config import TrainConfig
from regard.train.progress import Progress, better


def config(**keys: object) -> TrainConfig:
    return TrainConfig.model_validate({"steps": 9, "batch_sentences": 1, "metric": "bleu", **keys})


def judge(scores: list[float], given: TrainConfig) -> Progress:
    progress = Progress()
    for step, score in enumerate(scores, start=1):
        progress = replace(progress, step=step).judged(score, given)
    return progress


def test_the_best_is_kept_and_what_follows_is_counted_as_stale() -> None:
    progress = judge([1.0, 3.0, 2.0, 3.0], config())
    assert (progress.best_score, progress.best_step, progress.stale) == (3.0, 2, 2)


def test_a_loss_is_better_when_it_is_lower() -> None:
    progress = judge([1.0, 3.0, 0.5], config(metric="loss"))
    assert (progress.best_score, progress.best_step, progress.stale) == (0.5, 3, 0)


def test_what_is_not_a_number_is_never_best() -> None:
    progress = judge([math.nan, 0.7, math.nan], config(metric="loss"))
    assert (progress.best_score, progress.best_step) == (0.7, 2)
    assert not better("bleu", math.nan, None)


def test_the_plateau_falls_after_its_patience_and_waits_again() -> None:
    assert [judge([5.0, *[1.0] * stood], config(plateau_patience=1)).plateau for stood in range(6)] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_the_training_loss_is_the_mean_since_the_last_validation() -> None:
    progress = Progress(loss_sum=6.0, loss_steps=3)
    assert progress.train_loss == 2.0
    assert math.isnan(progress.judged(1.0, config()).train_loss)
