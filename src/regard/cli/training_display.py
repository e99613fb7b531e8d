"""The display of a training run: a progress bar on a terminal, plain lines in a log."""

import sys
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from regard.cli.escape import escaped, terminal_console
from regard.training.journal import Averaged, Event, Finished, Listener, Preparing, Started, Stepped, Validated, Warned

LOG_SECONDS = 15.0
"""Seconds between two lines without a terminal."""
MEMORY = 0.95
"""Decay of the running means of loss and speed."""


class TrainingDisplay:
    """A listener for `regard.train`; everything goes to stderr."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or terminal_console(sys.stderr)
        self.open = ExitStack()
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task: TaskID = self.bar.add_task("preparing", total=None, figures="")
        self.first = self.total = 0
        self.loss = self.speed = 0.0
        self.score = self.stage = ""
        self.pairs = self.all_pairs = 0
        self.clock = Clock(seconds=LOG_SECONDS)

    def __enter__(self) -> "TrainingDisplay":
        self.bar.start()
        self.open.enter_context(escaped())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.total == 0:  # nothing was trained; the caller prints the reason
            self.bar.remove_task(self.task)
        self.open.close()
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case Preparing():
                self._preparing(event)
            case Started():
                self._started(event)
            case Stepped():
                self._stepped(event)
            case Validated():
                self._validated(event)
            case Averaged():
                self._averaged(event)
            case Warned():
                self._line(f"warning: {event.message}")
            case Finished():
                if event.reason == "early":
                    self._line(f"stopped early at step {event.step:,}: validation no longer improved")

    def _line(self, text: str) -> None:
        self.bar.console.print(text, soft_wrap=True)

    def _preparing(self, event: Preparing) -> None:
        begins = event.what != self.stage
        if begins:  # how many pairs there are is known once they have all been read
            self.all_pairs = self.pairs
            total = self.all_pairs or None
            self.bar.reset(self.task, description=f"preparing: {event.what}", total=total, figures="pairs")
            self.stage = event.what
        self.pairs = event.pairs
        self.bar.update(self.task, completed=event.pairs)
        if (self.clock.due() or begins) and not self.console.is_terminal:
            of = f" of {self.all_pairs:,}" if self.all_pairs > event.pairs else ""
            self._line(f"preparing: {event.what}{f', {event.pairs:,}{of} pairs' if event.pairs else ''}")

    def _started(self, event: Started) -> None:
        for note in event.notes:
            self._line(f"note: {note}")
        threads = "1 thread" if event.threads == 1 else f"{event.threads} threads"
        workers, device = "", event.device
        if event.workers > 1:  # every worker has a device of its own
            workers, device = f"{event.workers} workers, each with ", device.partition(":")[0]
        self._line(
            f"{event.train_pairs:,} training pairs, {event.dev_pairs:,} development pairs; vocabulary "
            f"{event.source_vocabulary:,} → {event.target_vocabulary:,}; {event.parameters:,} parameters; "
            f"{workers}{device}, {event.precision}, {threads}; {event.padding:.0%} padding"
        )
        if event.first_step > 1:
            self._line(f"resumed at step {event.first_step:,} of {event.total_steps:,}")
        if event.estimate is not None:
            steps = event.total_steps - event.first_step + 1
            self._line(f"{steps:,} steps: about {show_time(event.estimate)} at most, validation not counted")
        self.first, self.total = event.first_step, event.total_steps
        done = event.first_step - 1
        self.clock = Clock(seconds=LOG_SECONDS)
        self.clock.left(done / event.total_steps)
        self.bar.reset(self.task, description="training", total=event.total_steps, completed=done, figures="")

    def _stepped(self, event: Stepped) -> None:
        memory = MEMORY if event.step > self.first else 0.0
        if event.loss == event.loss:  # a NaN must not enter the running mean
            self.loss = memory * self.loss + (1 - memory) * event.loss
        self.speed = memory * self.speed + (1 - memory) * event.tokens_per_second
        figures = f"loss {self.loss:.3f} · {self.speed:,.0f} tokens/s{self.score}"
        self.bar.update(self.task, completed=event.step, figures=figures)
        if self.clock.due() and not self.console.is_terminal:
            left = self.clock.left(event.step / self.total)
            self._line(f"step {event.step:,} of {self.total:,} · {figures}{left}")

    def _validated(self, event: Validated) -> None:
        shown = show_score(event.metric, event.score)
        self.score = f" · {shown}"
        score = "" if event.metric == "loss" else f", {shown}"
        self._line(
            f"step {event.step:,}: training loss {event.train_loss:.4f}, validation loss {event.loss:.4f}{score}"
            f"{' *' if event.best else ''}"
        )

    def _averaged(self, event: Averaged) -> None:
        used = "*" if event.best else "(not better: not used)"
        self._line(f"mean of the last {event.count} weights: {show_score(event.metric, event.score)} {used}")


def with_snapshots(display: TrainingDisplay, folder: Path, trust: Collection[str] = ()) -> Listener:
    """The display, and after each validation a snapshot for the studio's slider over checkpoints."""
    from regard.server.snapshot_listener import snapshot_listener

    snapshots = snapshot_listener(folder, trust, lambda message: display._line(f"warning: {message}"))

    def listen(event: Event) -> None:
        display(event)
        snapshots(event)

    return listen


class Clock:
    """Estimates how long something takes from the share of it that is done; a log gets a line every few `seconds`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float = 4 * LOG_SECONDS) -> None:
        self.clock, self.seconds = clock, seconds
        self.began = self.reported = clock()
        self.first: float | None = None

    def left(self, share: float) -> str:
        """ ", about 5 min left"; empty at the start. `share` includes work from before a resume."""
        if self.first is None:
            self.first, self.began = share, self.clock()
        if not self.first < share < 1:
            return ""
        return f", about {show_time((self.clock() - self.began) / (share - self.first) * (1 - share))} left"

    def due(self) -> bool:
        """Whether it is time for another line in a log."""
        now = self.clock()
        due = now - self.reported >= self.seconds
        self.reported = now if due else self.reported
        return due


def show_score(metric: str, score: float) -> str:
    """A score as text; fractions as percentages."""
    form = {"exact_match": ".1%", "loss": ".4f"}.get(metric, ".2f")
    name = "validation loss" if metric == "loss" else metric.replace("_", " ")
    return f"{name} {score:{form}}"


def show_time(seconds: float) -> str:
    """About how long: seconds, minutes or hours.

    >>> show_time(59.0), show_time(150.0), show_time(9000.0)
    ('59 s', '2 min', '2.5 h')
    """
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
