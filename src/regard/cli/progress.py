"""What a person sees while a model trains: a bar on a terminal, plain lines in a log."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from regard.train.journal import Event, Finished, Started, Stepped, Validated, Warned

LOG_SECONDS = 15
"""How often a line is printed where there is no terminal to draw a bar on."""


class TrainingDisplay:
    """A listener for `regard.train`; everything goes to stderr."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self.bar = Progress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task: TaskID | None = None
        self.total = 0
        self.loss: float | None = None
        self.score = ""
        self.told = time.monotonic()

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                self._started(event)
            case Stepped():
                self._stepped(event)
            case Validated():
                self._validated(event)
            case Warned():
                self._line(f"warning: {event.message}")
            case Finished():
                self._finished(event)

    def _line(self, text: str) -> None:
        self.bar.console.print(text, markup=False, soft_wrap=True)

    def _started(self, event: Started) -> None:
        for note in event.notes:
            self._line(f"note: {note}")
        threads = "thread" if event.threads == 1 else "threads"
        self._line(
            f"{event.train_pairs:,} pairs to learn from, {event.dev_pairs:,} to check with; vocabulary "
            f"{event.source_vocabulary:,} → {event.target_vocabulary:,}; {event.parameters:,} parameters; "
            f"{event.device}, {event.precision}, {event.threads} {threads}; {event.padding:.0%} padding"
        )
        if event.first_step > 1:
            self._line(f"resumed at step {event.first_step:,} of {event.total_steps:,}")
        self.total = event.total_steps
        self.task = self.bar.add_task("", total=event.total_steps, completed=event.first_step - 1, figures="")

    def _stepped(self, event: Stepped) -> None:
        self.loss = event.loss if self.loss is None else 0.95 * self.loss + 0.05 * event.loss
        figures = f"loss {self.loss:.3f} · {event.tokens_per_second:,.0f} words/s{self.score}"
        if self.task is not None:
            self.bar.update(self.task, completed=event.step, figures=figures)
        if not self.console.is_terminal and time.monotonic() - self.told > LOG_SECONDS:
            self.told = time.monotonic()
            self._line(f"step {event.step:,} of {self.total:,} · {figures}")

    def _validated(self, event: Validated) -> None:
        shown = show_score(event.metric, event.score)
        self.score = f" · {shown}"
        star = " *" if event.best else ""
        self._line(
            f"step {event.step:,}: training loss {event.train_loss:.4f}, validation loss {event.loss:.4f}, {shown}{star}"
        )

    def _finished(self, event: Finished) -> None:
        if event.reason == "early":
            self._line(f"stopped early at step {event.step:,}: validation stood still")


def show_score(metric: str, score: float) -> str:
    """A score as people read it: fractions as percentages."""
    name = metric.replace("_", " ")
    return (
        f"{name} {score:.1%}"
        if metric == "exact_match"
        else f"{name} {score:.4f}"
        if metric == "loss"
        else f"{name} {score:.2f}"
    )
