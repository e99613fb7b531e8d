"""Time that a check spends on work of its own is not the learner's, and is shown."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from regard.course.catalogue import Entry
from regard.course.process import Grader
from regard.course.waiting import bar, busy

SLOW = """
    import time

    import numpy as np
    from regard.course.waiting import busy

    for part in range(5):
        time.sleep(0.5)
        {tell}

    def softmax(scores):
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)
"""


def test_the_clock_stands_still_while_a_check_is_busy(softmax_entry: Entry, write: Callable[..., Path]) -> None:
    heard: list[tuple[str, int, int]] = []
    with Grader(replace(softmax_entry, seconds=2.0)) as grader:
        told = write(SLOW.format(tell='busy("at work", part, 5)'))
        verdict = grader.grade(told, waiting=lambda *news: heard.append(news))
    assert verdict.passed, verdict
    assert heard[-1] == ("at work", 4, 5)


def test_without_news_the_clock_runs(softmax_entry: Entry, write: Callable[..., Path]) -> None:
    with Grader(replace(softmax_entry, seconds=2.0)) as grader:
        assert grader.grade(write(SLOW.format(tell="pass"))).status == "stopped"


def test_nobody_needs_to_listen() -> None:
    busy("at work", 1, 2)


def test_the_bar_fits_and_never_leaves_its_frame() -> None:
    assert bar("training", 1, 2, width=30) == "training  ██████░░░░░░░  50 %"
    for done in (-3, 0, 7, 99):
        assert len(bar("training", done, 7, width=60)) == len(bar("training", 3, 7, width=60)) <= 60
    assert bar("training", 0, 0).endswith("  0 %")
