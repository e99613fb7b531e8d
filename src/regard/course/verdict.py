"""What the grader says about one file; plain data that crosses from the grading process as JSON."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from regard.reading_files import parse_json

Status = Literal["passed", "unstable", "failed", "unfinished", "broken", "stopped", "missing"]
STATUSES: tuple[Status, ...] = get_args(Status)


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
    """In what the answer differs: type, shape, dtype, value, changed, error, law."""
    check: str = ""
    """The family or law that failed."""
    mistake: str | None = None
    advice: str = ""
    """What the recognised mistake is, in a sentence or two."""
    checks: int = 0
    """How many assertions ran."""
    counts: dict[str, int] = field(default_factory=dict)
    """Assertions by family and law."""
    half: bool = False
    """The file cannot be parsed: it may be half-saved or half-typed."""
    printed: str = ""
    """What the learner's file printed, cut."""
    notes: tuple[str, ...] = ()
    line: int = 0
    """In the learner's file, from 1 as in editors: the line that raised, else the function's; 0 if unknown."""
    column: int = 0
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def json(self) -> dict[str, Any]:
        return asdict(self)

    def with_(self, **changes: Any) -> "Verdict":
        return replace(self, **changes)


def verdict_from_json(text: str | bytes) -> Verdict:
    """The inverse of `json.dumps(verdict.json())`."""
    values = parse_json(text)
    for name in ("details", "notes"):
        values[name] = tuple(values[name])
    if values["status"] not in STATUSES:
        raise ValueError(f"there is no status {values['status']!r}; there are {', '.join(STATUSES)}")
    return Verdict(**values)
