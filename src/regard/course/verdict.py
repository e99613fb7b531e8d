"""The verdict of the grader on one file, as plain data."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from regard.course.answer_map import AnswerMap

Status = Literal["passed", "unstable", "failed", "unfinished", "broken", "stopped", "missing"]


@dataclass(frozen=True)
class Verdict:
    """`passed`, or why not.

    unstable: right for ordinary numbers only; unfinished: the starter's TODO is still there; broken: it raised or
    cannot be read; stopped: it hung, crashed, printed or forked too much; missing: there is no file.
    """

    status: Status
    headline: str
    details: tuple[str, ...] = ()
    """Lines: the input, yours, wanted."""
    kind: str = ""
    """The kind of difference: type, shape, dtype, value, changed, error, law."""
    check: str = ""
    """The family or law that failed."""
    mistake: str | None = None
    advice: str = ""
    """The message of the recognised mistake, a sentence or two."""
    checks: int = 0
    """How many assertions ran."""
    counts: dict[str, int] = field(default_factory=dict)
    """Assertions by family and law."""
    half: bool = False
    """The file cannot be parsed: it may be half-saved or half-typed."""
    printed: str = ""
    """The output of the learner's file, shortened."""
    notes: tuple[str, ...] = ()
    line: int = 0
    """In the learner's file, from 1 as in editors: the line that raised, else the function's; 0 if unknown."""
    column: int = 0
    seconds: float = 0.0
    answer: AnswerMap | None = None
    """The part of the answer that is wrong, beside the right one; of a right answer its largest array."""

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def json(self) -> dict[str, Any]:
        return asdict(self)

    def with_(self, **changes: Any) -> "Verdict":
        return replace(self, **changes)
