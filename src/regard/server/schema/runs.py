"""Training runs, their events and replays, and scores by length."""

from typing import Literal

from pydantic import Field

from regard.server.schema.base import Answer, Request
from regard.server.schema.translating import Side

Metric = Literal["bleu", "chrf", "exact_match"]
State = Literal["preparing", "running", "finished", "stopped", "failed"]


class TrainRequest(Request):
    """POST /runs: train the demo of the phrasebook."""

    pair: Literal["en-fr", "fr-en", "en-hi"] = "en-fr"
    seed: int = Field(default=0, ge=0, le=2**31)
    steps: int | None = Field(default=None, ge=1, le=20_000)
    """Optimizer steps; the recipe's (about three minutes) if left out."""


class Run(Answer):
    """A run folder below --runs."""

    id: str
    """The folder's name."""
    description: str
    state: State
    """preparing: before the first step; stopped: interrupted; `regard train --resume` continues it."""
    ours: bool
    """Whether this server started it: then DELETE /runs/{id} stops it."""
    step: int
    total_steps: int | None
    metric: str | None
    best_score: float | None
    best_step: int | None
    seconds: float | None
    model: str | None
    """Its id in /models, once there is a checkpoint."""
    problem: str | None = None
    """Why it failed."""


class RunsAnswer(Answer):
    """Answer of GET /runs; the newest first."""

    runs: list[Run]
    can_train: bool
    """False for `regard serve` and where --runs cannot be written: POST /runs is refused."""


class ReplayedSentence(Answer):
    """A pinned sentence under one checkpoint: attention between words while the reference was forced."""

    data: list[list[float]] | None
    """[target word][source word]; null without attention."""
    elsewhere: list[float] | None = None
    """For each target word, its attention to pieces that belong to no source word, such as EOS."""
    log_probability: float
    """Log-probability of the reference."""
    text: str
    """The checkpoint's own translation."""


class Snapshot(Answer):
    """One checkpoint: entry i belongs to sentence i."""

    step: int
    score: float | None
    sentences: list[ReplayedSentence]


class PinnedSentence(Answer):
    """A sentence whose alignment is replayed."""

    source: Side
    target: Side
    """The reference, which is forced."""


class ReplayAnswer(Answer):
    """Answer of GET /runs/{id}/replay: how the alignment emerges, oldest snapshot first."""

    run: str
    sentences: list[PinnedSentence]
    snapshots: list[Snapshot]
    reason: str | None
    """Why there are no snapshots: the run was not started from this page, or has no checkpoint yet."""


class QualitySentence(Answer):
    """A sentence of a bin."""

    number: int
    source: str
    reference: str
    text: str
    right: bool
    chrf: float


class QualityBin(Answer):
    """Sentences of a range of source lengths, in words."""

    shortest: int
    longest: int | None
    sentences: int
    score: float | None
    low: float | None
    high: float | None
    """The 95 % bootstrap interval."""
    examples: list[QualitySentence]


class QualityAnswer(Answer):
    """Answer of GET /quality/{model}; `model` is an id of /models. Poll while `state` is computing."""

    model: str
    state: Literal["computing", "ready"]
    done: int
    of: int
    metric: Metric
    score: float | None
    low: float | None
    high: float | None
    bins: list[QualityBin]
    """Bins without sentences are left out."""
    notes: list[str]
