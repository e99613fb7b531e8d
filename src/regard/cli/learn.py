"""Learn attention by writing it: exercises graded on save, with a diagnosis instead of "assertion failed".

Without an action it makes the folder of exercises and watches it. Actions: list; run [N]; hint N [TIER]; reset N;
solution N (after success); check [N] (for authors: does the course keep its own rules?).
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.course.report import Paint
    from regard.course.session import Session

ACTIONS = ("watch", "list", "run", "hint", "reset", "solution", "check")


def learn(
    action: Annotated[str, typer.Argument(help=f"{', '.join(ACTIONS)}.", show_default=False)] = "watch",
    exercise: Annotated[str | None, typer.Argument(help="Number or name; the current one if left out.")] = None,
    tier: Annotated[int | None, typer.Argument(help="Which hint: 1, 2 or 3; the next one if left out.")] = None,
    folder: Annotated[Path | None, typer.Option(help="The exercises' folder; ./regard-course if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results as JSON.")] = False,
) -> None:
    from regard.course.session import Session
    from regard.text.errors import InputError

    if action not in ACTIONS:
        raise InputError(f"there is no action {action!r}; there are {', '.join(ACTIONS)}")
    if action == "check":
        _check(exercise)
        return
    session = Session(folder)
    try:
        for note in session.notes:
            typer.echo(f"regard: {note}", err=True)
        _act(session, action, exercise, tier, as_json)
    finally:
        session.close()


def _act(session: "Session", action: str, exercise: str | None, tier: int | None, as_json: bool) -> None:
    from regard.course.catalogue import find
    from regard.course.report import list_lines, plain, progress_line, verdict_lines

    entry = session.current if exercise is None else find(exercise)
    paint, width = _paint(), shutil.get_terminal_size().columns
    if action == "list":
        typer.echo(
            plain([*list_lines(session.progress, paint), progress_line(session.progress, paint, width)], _encoding())
        )
    elif action == "hint":
        typer.echo(plain([session.hint(entry, tier)], _encoding()))
    elif action == "reset":
        typer.echo(session.reset(entry))
    elif action == "solution":
        typer.echo(session.solution(entry))
    else:
        session.choose(entry)
        verdict = session.grade(entry)
        if as_json:
            typer.echo(json.dumps({"exercise": entry.name, **verdict.json()}, ensure_ascii=False, indent=2))
        else:
            typer.echo(plain(verdict_lines(entry, verdict, paint, width), _encoding()))
        if not verdict.passed:
            raise typer.Exit(1)


def _check(exercise: str | None) -> None:
    from regard.course.catalogue import entries, find
    from regard.course.selfcheck import problems

    wrong = 0
    for entry in entries() if exercise is None else [find(exercise)]:
        found = problems(entry)
        wrong += len(found)
        typer.echo(f"{entry.number:>2} {entry.title}: {'good' if not found else ''}")
        for problem in found:
            typer.echo(f"     {problem}")
    if wrong:
        raise typer.Exit(1)


def _paint() -> "Paint":
    from regard.course.report import Paint

    return Paint(sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb")


def _encoding() -> str | None:
    return sys.stdout.encoding
