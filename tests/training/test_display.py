"""The display of a run: a bar on a terminal, plain lines in a log."""

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from regard.cli import training_display
from regard.cli.training_display import TrainingDisplay, show_score, show_time
from regard.training.journal import Averaged, Finished, Preparing, Started, Stepped, Validated, Warned

START = Started(1955, 48, 6, 13, 14, 20, 1, "cpu", "float32", 1, 0.25, ("1 pair left out: a side is blank",))
STEP = Stepped(1, 0, 2.0, 0.001, 1.0, 1234.0, 0.5)
CHECK = Validated(10, 1, 1.5, 1.25, "exact_match", 0.875, True, ("a", "b", "c"), 3.0)


def show(*events: object, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=160, highlight=False, markup=False, emoji=False)
    with TrainingDisplay(console) as display:
        for event in events:
            display(event)  # type: ignore[arg-type]
    return file.getvalue()


def test_a_log_gets_plain_lines() -> None:
    text = show(START, STEP, Warned(1, "odd [bold]brackets[/] :smile:"), CHECK, Finished(10, "early", 0.875, 10, 3.0))
    assert text.splitlines() == [
        "note: 1 pair left out: a side is blank",
        "48 training pairs, 6 development pairs; vocabulary 13 → 14; 1,955 parameters; cpu, float32, 1 thread; "
        "25% padding",
        "warning: odd [bold]brackets[/] :smile:",
        "step 10: training loss 1.5000, validation loss 1.2500, exact match 87.5% *",
        "stopped early at step 10: validation no longer improved",
    ]
    assert "\x1b" not in text


def test_a_loss_that_is_the_metric_is_printed_once() -> None:
    check = replace(CHECK, metric="loss", score=1.25)
    assert show(START, check).splitlines()[-1] == "step 10: training loss 1.5000, validation loss 1.2500 *"


def test_a_log_gets_the_remaining_time_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_display, "LOG_SECONDS", 0.0)
    lines = show(START, STEP, CHECK, replace(STEP, step=11, loss=math.nan)).splitlines()
    assert lines[2].startswith("step 1 of 20 · loss 2.000 · 1,234 tokens/s, about ")
    assert lines[2].endswith(" s left")
    assert lines[4].startswith("step 11 of 20 · loss 2.000 · 1,234 tokens/s · exact match 87.5%, about ")


def test_preparing_is_counted_and_then_measured() -> None:
    stages = [Preparing("counting words", 40), Preparing("counting words", 60), Preparing("encoding", 30)]
    with TrainingDisplay(Console(file=io.StringIO())) as display:
        task = display.bar.tasks[0]
        display(stages[0])
        assert (task.description, task.total, task.completed) == ("preparing: counting words", None, 40)
        display(stages[1])
        display(stages[2])
        assert (task.description, task.total, task.completed) == ("preparing: encoding", 60, 30)
        display(START)
        assert (task.description, task.total, task.completed, task.fields["figures"]) == ("training", 20, 0, "")


def test_preparing_reports_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [("counting words", 0), ("counting words", 60), ("building the vocabulary", 60), ("encoding", 0)]
    stages += [("encoding", 30), ("encoding", 60)]
    events = [Preparing(what, pairs) for what, pairs in stages]
    first = ["preparing: counting words", "preparing: building the vocabulary, 60 pairs", "preparing: encoding"]
    assert show(*events).splitlines() == first, "each stage when it begins"
    monkeypatch.setattr(training_display, "LOG_SECONDS", 0.0)
    assert show(*events).splitlines() == [
        first[0], "preparing: counting words, 60 pairs", *first[1:],
        "preparing: encoding, 30 of 60 pairs", "preparing: encoding, 60 pairs",
    ]  # fmt: skip


def test_a_terminal_gets_a_bar_with_loss_speed_score_and_time_left() -> None:
    steps = [replace(STEP, step=step) for step in range(1, 20)]
    text = show(START, CHECK, *steps, terminal=True)
    for part in ("training", "━", "19/20", "loss 2.000", "1,234 tokens/s", "exact match 87.5%", "0:00:0"):
        assert part in text, part


def test_a_run_that_never_started_leaves_no_bar() -> None:
    assert show(terminal=True).count("preparing") <= 1
    assert "preparing" not in show(terminal=True).splitlines()[-1]
    assert show() == ""


def test_resuming_and_averaging_are_printed() -> None:
    text = show(replace(START, first_step=8, threads=2), Averaged(20, 3, 1.0, "bleu", 41.5, False))
    assert "2 threads" in text
    assert "resumed at step 8 of 20" in text
    assert "mean of the last 3 weights: bleu 41.50 (not better: not used)" in text
    assert "mean of the last 3 weights: validation loss 0.5000 *" in show(
        START, Averaged(20, 3, 0.5, "loss", 0.5, True)
    )


def test_scores_and_times_as_text() -> None:
    assert [show_score(name, 0.51234) for name in ("exact_match", "loss", "bleu", "chrf")] == [
        "exact match 51.2%", "validation loss 0.5123", "bleu 0.51", "chrf 0.51",
    ]  # fmt: skip
    assert [show_time(seconds) for seconds in (0.4, 119.0, 600.0, 9000.0)] == ["1 s", "119 s", "10 min", "2.5 h"]
