"""`check("softmax", softmax)` in a notebook cell: the grader's diagnosis as HTML. Feedback, never a grade."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.course.catalogue import ExerciseEntry
    from regard.course.verdict import Verdict

COLOURS = {"passed": "#1a7f37", "unstable": "#9a6700", "unfinished": "#0969da"}


@dataclass(frozen=True)
class Feedback:
    """What the grader says about some functions, for a notebook or a console."""

    entry: "ExerciseEntry"
    verdict: "Verdict"

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    def __repr__(self) -> str:
        from regard.course.verdict_text import Paint, verdict_lines

        return "\n".join(verdict_lines(self.entry, self.verdict, Paint(False)))

    def _repr_html_(self) -> str:
        from regard.course.verdict_text import MARKS

        verdict = self.verdict
        colour = COLOURS.get(verdict.status, "#cf222e")
        title = f"{MARKS[verdict.status]} {self.entry.number} · {self.entry.title}"
        parts = [f'<b style="color:{colour}">{escape(title)}</b>', f"<p>{escape(verdict.headline)}</p>"]
        if verdict.details:
            parts.append(f"<pre>{escape(chr(10).join(verdict.details))}</pre>")
        parts += [f"<p>→ {escape(verdict.advice)}</p>"] if verdict.advice else []
        parts += [f"<p>{escape(note)}</p>" for note in verdict.notes]
        return f'<div style="border-left:4px solid {colour};padding-left:1em">{"".join(parts)}</div>'


def check(exercise: str | int, *functions: Callable[..., Any], course: str | Path | None = None) -> Feedback:
    """Feedback on your functions: the name or number of an exercise, then what you wrote for it.

    `course` is the folder of a teacher's own exercises. The functions run in this process, without limits, so an
    endless loop hangs the cell: interrupt the kernel.
    """
    from regard.course.attempt import Attempt
    from regard.course.catalogue import HOME, find, use_course
    from regard.course.grade import grade
    from regard.text.input_error import InputError

    use_course(HOME if course is None else Path(course))
    entry = find(str(exercise))
    wanted = entry.load()
    given = {getattr(function, "__name__", ""): function for function in functions}
    unknown = [name for name in given if name not in wanted.functions]
    if unknown or not functions:
        names = ", ".join(wanted.functions)
        call = f"check({exercise!r}, {names})"
        found = f"; {', '.join(unknown)} is another name" if unknown else ""
        raise InputError(f"exercise {entry.number} is about the functions {names}{found}: call {call}")
    missing = {name: _missing(name) for name in wanted.functions if name not in given}
    return Feedback(entry, grade(wanted, Attempt({**missing, **given})))


def _missing(name: str) -> Callable[..., Any]:
    def not_given(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"TODO: give check() your {name} as well")

    return not_given
