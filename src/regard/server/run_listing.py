"""The runs below --runs, from their journals."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

from regard.bounds import MOST
from regard.bundle.manifest import NAME as MANIFEST
from regard.bundle.store import identity
from regard.files import hold
from regard.reading_files import open_regular, parse_object, read_json
from regard.server.errors import not_found
from regard.server.run_process import Training
from regard.server.schema.runs import Run, State
from regard.training.journal import NAME as JOURNAL
from regard.training.run_folder import RECIPE, is_run

MOST_RUNS = 200
WHOLE, END = 16 << 20, 1 << 20
"""Bytes up to which a journal is read whole, and which of a larger one are read at both ends."""
FRESH = 120
"""Seconds since the last event in which a run counts as running where the file system has no locks."""


@dataclass(frozen=True)
class Summary:
    """The summary of a run, from its journal."""

    step: int = 0
    total_steps: int | None = None
    metric: str | None = None
    best_score: float | None = None
    best_step: int | None = None
    seconds: float | None = None
    reason: str | None = None
    """Why it ended: steps, early or interrupted; None where it did not."""
    samples: tuple[tuple[str, str], ...] = ()
    """(source, reference) of its validations."""


class RunListing:
    """Reads run folders; a journal is parsed again only when it has changed."""

    def __init__(self, runs: Path | None) -> None:
        self._runs = runs
        self._known: dict[str, tuple[object, Summary]] = {}

    def folders(self) -> list[Path]:
        """The newest first."""
        if self._runs is None or not self._runs.is_dir():
            return []
        found = [one for one in self._runs.iterdir() if one.is_dir() and is_run(one)]
        return sorted(found, key=_age, reverse=True)[:MOST_RUNS]

    def find(self, name: str) -> Path:
        """The folder of a run; only names of the listing are found, so no path leads elsewhere."""
        folder = next((one for one in self.folders() if one.name == name), None)
        if folder is None:
            raise not_found("run", name, "GET /api/v1/runs lists them")
        return folder

    def summary(self, folder: Path) -> Summary:
        state = identity(folder / JOURNAL)
        known = self._known.get(folder.name)
        if known is None or known[0] != state:
            known = self._known[folder.name] = state, _summary(_entries(folder / JOURNAL))
        return known[1]

    def run(self, folder: Path, training: Training | None) -> Run:
        found = self.summary(folder)
        problem = None if training is None else training.problem
        alive = training.alive if training is not None else found.reason is None and is_training(folder)
        has_model = any((folder / inner / MANIFEST).is_file() for inner in ("best", "last"))
        return Run(
            id=folder.name, description=_description(folder), state=_state(found, alive, problem),
            ours=training is not None, step=found.step, total_steps=found.total_steps, metric=found.metric,
            best_score=found.best_score, best_step=found.best_step, seconds=found.seconds,
            model=folder.name if has_model else None, problem=problem,
        )  # fmt: skip


def preparing(training: Training) -> Run:
    """A run whose process has not made its folder yet."""
    problem = training.problem
    return Run(
        id=training.folder.name, description="", state=_state(Summary(), training.alive, problem), ours=True, step=0,
        total_steps=None, metric=None, best_score=None, best_step=None, seconds=None, model=None, problem=problem,
    )  # fmt: skip


def is_training(folder: Path) -> bool:
    """Whether a process holds the folder."""
    try:
        descriptor = hold(folder)
    except BlockingIOError:
        return True
    except OSError:
        return False
    if descriptor is None:
        return time() - _age(folder) < FRESH
    os.close(descriptor)
    return False


def _state(found: Summary, alive: bool, problem: str | None) -> State:
    if problem is not None:
        return "failed"
    if found.reason is not None:  # its process may still be writing the last snapshot
        return "stopped" if found.reason == "interrupted" else "finished"
    if alive:
        return "running" if found.step else "preparing"
    return "stopped"


def _age(folder: Path) -> float:
    for path in (folder / JOURNAL, folder / RECIPE):
        with suppress(OSError):
            return path.stat().st_mtime
    return 0.0


def _description(folder: Path) -> str:
    try:
        return str(read_json(folder / RECIPE).get("description") or "")[:1000]
    except (OSError, ValueError, AttributeError):
        return ""


def _entries(path: Path) -> list[dict[str, Any]]:
    """The events of a journal; if it is large, only those at its beginning and end."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(size if size <= WHOLE else END)
            if size > WHOLE:
                file.seek(size - END)
                content += b"\n" + file.read(END)
    except OSError:
        return []
    entries = [parse_object(line) for line in content.split(b"\n")]
    return [entry for entry in entries if entry is not None and isinstance(entry.get("event"), str)]


def _summary(entries: list[dict[str, Any]]) -> Summary:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        kinds.setdefault(entry["event"], []).append(entry)
    last = {kind: found[-1] for kind, found in kinds.items()}
    scored = [*kinds.get("validated", []), *kinds.get("averaged", [])]
    best: dict[str, Any] = next((one for one in reversed(scored) if one.get("best")), {})
    step = max((_number(last.get(kind, {}).get("step")) or 0 for kind in ("step", "validated", "finished")), default=0)
    seconds = last.get("finished", last.get("step", {})).get("seconds")
    samples = [one.get("sample") for one in kinds.get("validated", [])]
    whole = [one for one in samples if isinstance(one, list) and len(one) == 3]
    pairs = dict.fromkeys((str(source)[:1000], str(reference)[:1000]) for source, reference, _ in whole)
    return Summary(
        step=int(step),
        total_steps=_integer(last.get("started", {}).get("total_steps")),
        metric=str(best["metric"]) if "metric" in best else None,
        best_score=_number(best.get("score")),
        best_step=_integer(best.get("step")),
        seconds=_number(seconds),
        reason=str(last["finished"].get("reason")) if "finished" in last else None,
        samples=tuple(pairs)[-4:],
    )


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MOST["seed"]:
        return None
    return float(value)


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and _number(value) is not None else None
