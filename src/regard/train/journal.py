"""What happens during a run, as events: told to a listener and kept as JSON lines."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.bundle.folder import explain


@dataclass(frozen=True)
class Started:
    """The run is about to take its first step."""

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


@dataclass(frozen=True)
class Stepped:
    """One optimizer step."""

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
    """The model decoded the development set."""

    kind = "validated"
    step: int
    epoch: int
    train_loss: float
    loss: float
    metric: str
    score: float
    best: bool
    sample: tuple[str, str, str]
    seconds: float


@dataclass(frozen=True)
class Warned:
    """Something the user should know; the run goes on."""

    kind = "warning"
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


Event = Started | Stepped | Validated | Warned | Finished
Listener = Callable[[Event], None]


class Journal:
    """Appends every event to `journal.jsonl`; after a resume, lines that a kill made obsolete are cut off."""

    def __init__(self, path: Path, listener: Listener | None = None) -> None:
        self.path = path
        self.listener = listener

    def rewind(self, step: int) -> None:
        """Forget what happened after `step`, and a last line that was only half written."""
        kept = [
            entry for entry in read_journal(self.path) if entry.get("step", 0) <= step and entry["event"] != "finished"
        ]
        self.path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept), encoding="utf-8")

    def tell(self, event: Event) -> None:
        line = json.dumps({"event": event.kind, **asdict(event)}, ensure_ascii=False)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise explain(error, self.path) from error
        if self.listener is not None:
            self.listener(event)


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The events of a run, oldest first; a half-written last line is passed over."""
    entries = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return entries
