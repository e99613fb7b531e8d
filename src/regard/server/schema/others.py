"""Triage, neighbours, the course, attention files, health."""

from typing import Literal

from pydantic import Field

from regard.server.schema.base import MOST_CHARACTERS, MOST_LINES, Answer, Line, Name, Request
from regard.server.schema.translating import Attention, Link, Matrix, Side


class TriageRequest(Request):
    """POST /triage: which translations to look at first, without references."""

    model: Name | None = None
    lines: list[Line] = Field(min_length=1, max_length=MOST_LINES)
    """Sources; blank ones are left out of the answer."""
    translations: list[Line] | None = Field(default=None, max_length=MOST_LINES)
    """Given translations to judge by forcing them, one for each line; the model's own if left out."""
    beam: int | None = Field(default=None, ge=1, le=16)


class TriageRow(Answer):
    """One sentence with its confidence signals."""

    number: int
    """0-based line."""
    source: str
    text: str
    confidence: float
    """0 to 1: the mean rank of the signals among the lines of this request; rows are sorted by it, lowest first."""
    mean_log_probability: float
    attention_entropy: float | None
    """Mean over target words, in nats."""
    coverage: float | None
    """The share of source words whose attention, summed over all target words, is at least 0.5."""
    copied: int
    """Source words, of two letters or more, that occur unchanged in the translation: names, or unknown words."""
    repeated: int
    """Target words that repeat the word before, and pairs of words that repeat the pair before."""
    finished: bool
    warnings: list[str]


class TriageAnswer(Answer):
    """Answer of POST /triage, the least confident first."""

    model: str
    forced: bool
    rows: list[TriageRow]


class NeighboursRequest(Request):
    """POST /neighbours: training sentences with a similar decoder state or context."""

    model: Name | None = None
    text: str = Field(max_length=MOST_CHARACTERS)
    target: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    """Forced; the model's own greedy translation if left out."""
    step: int = Field(default=0, ge=0, le=100_000)
    kind: Literal["query", "context"] = "query"
    """query: the decoder state that attention is called with; context: what attention returned."""
    count: int = Field(default=10, ge=1, le=50)


class Neighbour(Answer):
    """A step of a training sentence, whose reference was forced."""

    source: str
    target: str
    step: int
    piece: str
    """The piece of the training sentence at this step."""
    target_word: int | None
    similarity: float
    """Cosine: 1 is the same direction."""


class NeighboursAnswer(Answer):
    """Answer of POST /neighbours: the nearest first, each training sentence once."""

    model: str
    kind: Literal["query", "context"]
    piece: str
    """The piece that the requested step writes."""
    sample: int
    """Training sentences that were searched."""
    neighbours: list[Neighbour]


class AnswerMap(Answer):
    """An array of the learner's answer beside the right one, as matrices; null is a number that is not finite."""

    name: str
    yours: list[list[float | None]]
    wanted: list[list[float | None]]


class Report(Answer):
    """The grader's last report on an exercise."""

    when: str
    """ISO 8601."""
    status: Literal["passed", "unstable", "failed", "unfinished", "broken", "stopped", "missing"]
    """unstable: right for ordinary numbers only; broken: an exception; stopped: endless, or a crash."""
    headline: str
    check: str
    """The check that failed."""
    details: list[str]
    """Lines of plain text: the input, the learner's answer, the right one."""
    advice: str
    notes: list[str]
    printed: str
    """Output of the learner's file, cut."""
    line: int
    """Line of the learner's file, from 1; 0 if unknown."""
    answer: AnswerMap | None


class Exercise(Answer):
    """One exercise of the course."""

    number: int
    name: str
    title: str
    needs: str
    points: int
    passed: str | None
    """When it first passed, ISO 8601."""
    attempts: int
    hints_seen: int
    readme: str
    """Markdown."""
    report: Report | None
    """null until `regard learn` has graded it."""


class CourseAnswer(Answer):
    """Answer of GET /course; progress is that of the folder regard-course below the current folder, if there is one."""

    started: bool
    current: str
    points: int
    of: int
    exercises: list[Exercise]


class AttentionFile(Answer):
    """Attention of another program's model (regard studio --attention FILE)."""

    name: str
    source: Side
    target: Side
    attention: Attention
    word_attention: Matrix | None
    """null where a piece is a word: `attention` shows the same."""
    gold: list[Link] | None
    caption: str | None


class AttentionAnswer(Answer):
    """Answer of GET /attention."""

    files: list[AttentionFile]


class Health(Answer):
    """Answer of GET /health: status 200, or 503 while the server stops."""

    status: Literal["ok", "stopping"]
    version: str
    models: int
    queued: int
    running: int
    seconds: float
    """Time since the server started."""
