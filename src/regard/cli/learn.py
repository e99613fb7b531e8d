"""Learn attention by writing it: exercises graded on save, with a diagnosis instead of "assertion failed".

Without an action it makes the folder of exercises once, shows the current one and grades it at every save.

Actions:
  N                 the same, at exercise N
  list              all exercises, and how far you are
  run [N]           grade exercise N once
  hint [N [TIER]]   the next hint, or tier 1, 2 or 3
  reset [N]         put the starter back; your version is kept beside it
  solution [N]      ours, once yours passes (default: the one that passed last)
  answer [N]        the answers to "Try this", once yours passes
  check [N]         for authors: does the course keep its own rules?

For teachers: --grade DIR grades every learner's folder in DIR (N --grade DIR: exercise N only); --report OUT writes
grades.csv and feedback files; --json for programs; exit code 1 unless all passed. --notebooks DIR: for Jupyter, Colab.
--course DIR takes your own exercises instead of ours, for every action.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.escape import bare, print_json
from regard.suggest import suggest
from regard.text.input_error import InputError

if TYPE_CHECKING:
    from regard.course.catalogue import ExerciseEntry
    from regard.course.session import Session
    from regard.course.verdict import Verdict
    from regard.course.verdict_text import Paint

ACTIONS = ("watch", "list", "run", "hint", "reset", "solution", "answer", "check")


def learn(
    action: Annotated[str, typer.Argument(help=f"{', '.join(ACTIONS)}.", show_default=False)] = "watch",
    exercise: Annotated[str | None, typer.Argument(help="Number or name (default: the current one).")] = None,
    tier: Annotated[int | None, typer.Argument(help="Which hint: 1, 2 or 3 (default: the next one).")] = None,
    folder: Annotated[Path | None, typer.Option(help="The exercises' folder (default: ./regard-course).")] = None,
    course: Annotated[Path | None, typer.Option(help="A teacher's own exercises; imports the code in it.")] = None,
    grade: Annotated[Path | None, typer.Option(help="Grade the learners in this folder; runs their code.")] = None,
    report: Annotated[Path | None, typer.Option(help="With --grade: write CSV and feedback files here.")] = None,
    notebooks: Annotated[Path | None, typer.Option(help="Write a notebook for each exercise to this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results as JSON (run, list, --grade).")] = False,
) -> None:
    from regard.course.catalogue import HOME, entries, is_exercise, use_course
    from regard.course.session import Session

    if sys.platform == "win32":
        raise InputError("regard learn needs Linux or macOS; on Windows use the Windows Subsystem for Linux")
    use_course(course or HOME)
    if action not in ACTIONS and exercise is None and is_exercise(action):
        action, exercise = "watch", action
    if action not in ACTIONS:
        hint = suggest(action, ACTIONS, "actions")
        raise InputError(f"there is no action {action!r}: {hint} (or an exercise's number, 1 to {len(entries())})")
    if notebooks is not None:
        _write_notebooks(notebooks)
        return
    if report is not None and grade is None:
        raise InputError("--report writes what --grade found: give --grade DIR as well")
    if grade is not None:
        _grade_class(grade, exercise, report, as_json)
        return
    if action == "check":
        _check(exercise)
        return
    session = Session(folder)
    notes = session.notes
    for note in notes:
        typer.echo(f"regard: {note}", err=True)
    try:
        _act(session, action, exercise, tier, as_json)
    finally:
        session.close()
        for note in session.notes[len(notes) :]:
            typer.echo(f"regard: {note}", err=True)


def _act(session: "Session", action: str, exercise: str | None, tier: int | None, as_json: bool) -> None:
    from regard.course.catalogue import find
    from regard.course.verdict_text import plain

    shows_passed = action in ("solution", "answer")
    usual = session.passed_last if shows_passed else session.current
    entry = usual if exercise is None else find(exercise)
    if action == "watch":
        _watch(session, None if exercise is None else entry)
    elif action == "list":
        _list(session, as_json)
    elif action == "hint":
        _show_text(session.hint(entry, tier))
    elif action == "answer":
        _show_text(session.answers(entry))
    elif action == "reset":
        typer.echo(session.reset(entry))
    elif action == "solution":
        typer.echo(plain([session.solution(entry)], sys.stdout.encoding))
    else:
        _run(session, entry, as_json)


def _show_text(text: str) -> None:
    """A text of the course, fitted to the terminal."""
    from regard.course.verdict_text import plain
    from regard.course.watch.watch_screen import markdown_lines

    lines = markdown_lines(text, _paint(), shutil.get_terminal_size().columns)
    typer.echo(plain(lines, sys.stdout.encoding), file=bare(sys.stdout))


def _watch(session: "Session", entry: "ExerciseEntry | None") -> None:
    from regard.course.watch import watch
    from regard.course.watch.key_presses import Keys
    from regard.course.watch.watch_screen import Screen

    if entry is not None:
        session.choose(entry)
    watch(session, Keys(), Screen(bare(sys.stdout)))


def _run(session: "Session", entry: "ExerciseEntry", as_json: bool) -> None:
    from regard.course.verdict_text import plain, verdict_lines

    session.choose(entry)
    verdict = session.grade(entry, waiting=_waiting)
    if as_json:
        print_json({"exercise": entry.name, **verdict.json()})
    else:
        lines = verdict_lines(entry, verdict, _paint(), shutil.get_terminal_size().columns)
        typer.echo(plain(lines, sys.stdout.encoding), file=bare(sys.stdout))
    if not verdict.passed:
        raise typer.Exit(1)


def _waiting(what: str, done: int, total: int) -> None:
    """A bar that is drawn over itself and wiped in the end, where there is a terminal to draw it on."""
    from regard.course.verdict_text import plain
    from regard.course.waiting import bar

    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = plain([bar(what, done, total, width)], sys.stderr.encoding) if done < total else ""
        typer.echo(f"\r{line:<{width - 1}}" + ("" if line else "\r"), file=bare(sys.stderr), nl=False)


def _list(session: "Session", as_json: bool) -> None:
    from regard.course.catalogue import entries
    from regard.course.verdict_text import list_lines, plain, progress_line

    progress = session.progress
    if as_json:
        rows = [
            {
                "number": entry.number,
                "exercise": entry.name,
                "title": entry.title,
                "passed": progress.passed.get(entry.name),
                "attempts": progress.attempts.get(entry.name, 0),
                "hints": progress.hints.get(entry.name, 0),
            }
            for entry in entries()
        ]
        print_json(rows)
        return
    paint = _paint()
    lines = [*list_lines(progress, paint), progress_line(progress, paint, shutil.get_terminal_size().columns)]
    typer.echo(plain(lines, sys.stdout.encoding), file=bare(sys.stdout))


def _write_notebooks(directory: Path) -> None:
    from regard.course.notebooks import write_notebooks

    written = write_notebooks(directory)
    typer.echo(f"{len(written)} notebooks are in {directory}" if written else f"{directory} has them all already")


def _grade_class(directory: Path, exercise: str | None, report: Path | None, as_json: bool) -> None:
    from regard.course.catalogue import find
    from regard.course.class_report import remarks, write_report
    from regard.course.classroom import folders_without_exercises, grade_class, table_lines
    from regard.course.verdict_text import plain, visible

    def show(learner: str, entry: "ExerciseEntry", verdict: "Verdict") -> None:
        if sys.stderr.isatty():
            typer.echo(f"{visible(learner)}: {entry.number} {verdict.status}", err=True)

    graded = grade_class(directory, show, _waiting, None if exercise is None else find(exercise))
    if report is not None:
        write_report(graded, report)
    if as_json:
        print_json([one.json() for one in graded])
    else:
        noted = [f"  {visible(name)}, {line}" for name, lines in remarks(graded).items() for line in lines]
        shown = [*table_lines(graded), *(["", "worth a look:", *noted] if noted else [])]
        typer.echo(plain(shown, sys.stdout.encoding))
    for name in folders_without_exercises(directory):
        typer.echo(f"regard: no exercise was found in {visible(name)}, so it was skipped", err=True)
    if not all(verdict.passed for one in graded for verdict in one.verdicts.values()):
        raise typer.Exit(1)


def _check(exercise: str | None) -> None:
    from regard.course.catalogue import entries, find
    from regard.course.selfcheck import problems

    wrong = 0
    for entry in entries() if exercise is None else [find(exercise)]:
        found = problems(entry)
        wrong += len(found)
        typer.echo(f"{entry.number:>2} {entry.title}: {'; '.join(found) or 'good'}")
    if wrong:
        raise typer.Exit(1)


def _paint() -> "Paint":
    from regard.course.verdict_text import Paint

    return Paint(sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb")
