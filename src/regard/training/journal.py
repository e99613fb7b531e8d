"""The events of a run: passed to listeners and appended to a JSON Lines file.

Each line of `journal.jsonl` is one of the classes below: its `kind` under the key `event`, and its fields. Every loss
is the mean -log p of the target's pieces (natural logarithm, EOS counted), without the label smoothing that training
may minimise: losses of training and validation can be compared.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.bounds import MOST
from regard.bundle.bundle_folder import explaining, write_whole
from regard.files import sync
from regard.reading_files import parse_object, read_regular
from regard.text.input_error import InputError
from regard.training.train_config import Metric

NAME = "journal.jsonl"


@dataclass(frozen=True)
class Preparing:
    """Progress of preparing a stored corpus; passed to listeners, not written to the journal."""

    kind = "preparing"
    what: str
    pairs: int


@dataclass(frozen=True)
class Started:
    """The run is about to take its next step."""

    kind = "started"
    parameters: int
    train_pairs: int
    dev_pairs: int
    source_vocabulary: int
    target_vocabulary: int
    total_steps: int
    first_step: int
    device: str
    precision: str
    threads: int
    padding: float
    notes: tuple[str, ...] = ()
    workers: int = 1
    launch: str | None = None
    """torchrun's run id: restarted workers find their run by it."""
    estimate: float | None = None
    """Estimated seconds of the remaining steps, if every batch took as long as the largest."""


@dataclass(frozen=True)
class Stepped:
    """One optimizer step; `loss` is the mean over its batches, before the update and with dropout."""

    kind = "step"
    step: int
    epoch: int
    loss: float
    rate: float
    gradient_norm: float
    tokens_per_second: float
    seconds: float


@dataclass(frozen=True)
class Validated:
    """The model decoded the development set; `train_loss` is the mean since the last validation."""

    kind = "validated"
    step: int
    epoch: int
    train_loss: float
    loss: float
    metric: Metric
    score: float
    best: bool
    sample: tuple[str, str, str]
    seconds: float


@dataclass(frozen=True)
class Averaged:
    """The averaged model decoded the development set; if it is the best, it becomes the bundle."""

    kind = "averaged"
    step: int
    count: int
    loss: float
    metric: Metric
    score: float
    best: bool


@dataclass(frozen=True)
class Warned:
    """A warning; the run continues."""

    kind = "warning"
    step: int
    message: str


@dataclass(frozen=True)
class Finished:
    """The run ended: `reason` is steps, early, or interrupted."""

    kind = "finished"
    step: int
    reason: str
    best_score: float | None
    best_step: int | None
    seconds: float


Event = Preparing | Started | Stepped | Validated | Averaged | Warned | Finished
Listener = Callable[[Event], None]


class Journal:
    """Appends every event to a file; a resumed run removes the lines after its checkpoint."""

    def __init__(self, folder: Path, listeners: Sequence[Listener] = (), *, writes: bool = True) -> None:
        """`writes` is False for all workers but one."""
        self.path = folder / NAME
        self.listeners = listeners if writes else ()
        self.writes = writes

    def rewind(self, step: int) -> None:
        """Remove the events after `step`, the end of the run, and a half-written last line."""
        kept = [one for one in read_journal(self.path) if one.get("step", 0) <= step and one["event"] != "finished"]
        write_whole(self.path, "".join(_line(entry) for entry in kept))

    def write(self, event: Event) -> None:
        if not self.writes:
            return
        with explaining(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(_line({"event": event.kind, **asdict(event)}))
        self.notify(event)

    def sync(self) -> None:
        """fsync the journal: after a power loss, no checkpoint may be ahead of it."""
        with explaining(self.path):
            sync(self.path)

    def notify(self, event: Event) -> None:
        """Pass an event to the listeners without writing it."""
        for listener in self.listeners:
            listener(event)


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The events of a run, oldest first; a half-written line is skipped. null: not a finite number."""
    if not path.exists():
        return []
    try:
        lines = read_regular(path, MOST["journal"]).split(b"\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path} is not a journal: {error}") from error
    return [entry for entry in map(parse_object, lines) if entry is not None and "event" in entry]


def cut_short(folder: Path) -> str:
    """How the training in a run folder ended before its last step: "stopped early, at step 13 of 6,000"; else ""."""
    entries = read_journal(folder / NAME)
    totals = [entry.get("total_steps") for entry in entries if entry["event"] == "started"]
    steps = [entry.get("step") for entry in entries if entry["event"] in ("step", "finished")]
    match [*totals[-1:], *steps[-1:]]:
        case [int() as total, int() as step] if step < total:
            reasons = [entry.get("reason") for entry in entries if entry["event"] == "finished"]
            how = "stopped early" if "early" in reasons else "was interrupted" if reasons else "has not ended"
            return f"{how}, at step {step:,} of {total:,}"
    return ""


def _line(entry: dict[str, Any]) -> str:
    """JSON has neither NaN nor infinity."""
    plain = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in entry.items()
    }
    return json.dumps(plain, ensure_ascii=False) + "\n"
